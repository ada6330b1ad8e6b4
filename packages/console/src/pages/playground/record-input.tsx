/** Inputs that choose records of a model by their names. */
import { MultiSelect, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type OdooServer, readNames, searchNames } from '../../parts/odoo-queries.ts';

interface RecordInputProps<Value> {
  label: string;
  /** False if the label is for screen readers only. */
  isLabelShown?: boolean;
  server: OdooServer | null;
  model: string;
  value: Value;
  onChange: (value: Value) => void;
}

export function RecordInput({ value, onChange, ...props }: RecordInputProps<number | null>) {
  const { options, setTyped, naming } = useRecordOptions(props, value === null ? [] : [value]);
  return (
    <Select
      {...naming}
      placeholder="Record"
      size="xs"
      searchable
      selectFirstOptionOnChange
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${props.label}` }}
      nothingFoundMessage="No record matches"
      data={options}
      filter={({ options: found }) => found}
      value={value === null ? null : String(value)}
      onSearchChange={setTyped}
      onChange={(id) => onChange(id === null ? null : Number(id))}
    />
  );
}

export function RecordListInput({ value, onChange, ...props }: RecordInputProps<number[]>) {
  const { options, setTyped, naming } = useRecordOptions(props, value);
  return (
    <MultiSelect
      {...naming}
      placeholder={value.length === 0 ? 'Records' : ''}
      size="xs"
      searchable
      selectFirstOptionOnChange
      nothingFoundMessage="No record matches"
      data={options}
      filter={({ options: found }) => found}
      value={value.map(String)}
      onSearchChange={setTyped}
      onChange={(ids) => onChange(ids.map(Number))}
    />
  );
}

/** The records whose names match the typed text, and the chosen records. */
function useRecordOptions(
  { label, isLabelShown = false, server, model }: Omit<RecordInputProps<unknown>, 'value' | 'onChange'>,
  chosen: number[],
) {
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, 200);
  const { data: named = [] } = useQuery(readNames(server, model, chosen));
  const known = new Map(chosen.map((id) => [id, `#${id}`]));
  for (const { id, display_name } of named) known.set(id, display_name);
  // The name of a chosen record, which the input shows, is not a search.
  const search = [...known.values()].includes(text) ? '' : text;
  const { data: found = [] } = useQuery(searchNames(server, model, search));
  for (const [id, name] of found) known.set(id, name);
  const options = [...known].map(([id, name]) => ({ value: String(id), label: name }));
  return { options, setTyped, naming: isLabelShown ? { label } : { 'aria-label': label } };
}
