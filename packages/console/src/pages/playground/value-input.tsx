/** An input for one value of a field, by its type. */

import { type Json, tryParse } from '@erp-proxy/contract';
import { Select, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { FieldInfo } from '../../parts/odoo-fields.ts';
import type { OdooServer } from '../../parts/odoo-queries.ts';
import { NumberField } from './number-field.tsx';
import { RecordInput, RecordListInput } from './record-input.tsx';

interface ValueInputProps {
  label: string;
  isLabelShown?: boolean;
  server: OdooServer | null;
  /** Undefined if the field is unknown. */
  field: FieldInfo | undefined;
  value: Json;
  onChange: (value: Json) => void;
}

export function ValueInput(props: ValueInputProps) {
  const { label, isLabelShown = false, server, field, value, onChange } = props;
  const naming = isLabelShown ? { label } : { 'aria-label': label };
  switch (field?.type) {
    case 'boolean':
      return (
        <Select
          {...naming}
          size="xs"
          allowDeselect={false}
          data={['true', 'false']}
          value={String(value === true)}
          onChange={(text) => onChange(text === 'true')}
        />
      );
    case 'integer':
    case 'float':
    case 'monetary':
      if (typeof value === 'object') break;
      return (
        <NumberField
          {...naming}
          size="xs"
          allowDecimal={field.type !== 'integer'}
          value={typeof value === 'boolean' ? '' : value}
          onChange={onChange}
        />
      );
    case 'selection':
      if (typeof value === 'object') break;
      return (
        <Select
          {...naming}
          size="xs"
          placeholder="Value"
          searchable
          data={(field.selection ?? []).map(([name, text]) => ({
            value: String(name),
            label: `${text} (${String(name)})`,
          }))}
          value={value === '' || value === false ? null : String(value)}
          onChange={(name) => onChange(field.selection?.find(([one]) => String(one) === name)?.[0] ?? '')}
        />
      );
    case 'many2one':
      if (typeof value === 'object' || field.relation === undefined) break;
      return (
        <RecordInput
          label={label}
          isLabelShown={isLabelShown}
          server={server}
          model={field.relation}
          value={typeof value === 'number' ? value : null}
          onChange={(id) => onChange(id ?? '')}
        />
      );
    case 'date':
      if (typeof value !== 'string' || !/^(\d{4}-\d\d-\d\d)?$/.test(value)) break;
      return (
        <TextInput
          {...naming}
          size="xs"
          type="date"
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'datetime':
      if (typeof value !== 'string') break;
      return (
        <TextInput
          {...naming}
          size="xs"
          placeholder="2026-01-31 14:30:00 (UTC)"
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
  }
  if (typeof value === 'string' && field !== undefined && !/2many$/.test(field.type)) {
    return (
      <TextInput
        {...naming}
        size="xs"
        placeholder="Value"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return <JsonTextInput {...props} />;
}

/** An input for a list of values. */
export function ValueListInput({ label, server, field, value, onChange }: ValueInputProps) {
  const values = Array.isArray(value) ? value : [];
  const isRelation = field?.relation !== undefined;
  if (isRelation && values.every((item) => typeof item === 'number')) {
    return (
      <RecordListInput
        label={label}
        server={server}
        model={field.relation ?? ''}
        value={values}
        onChange={onChange}
      />
    );
  }
  const isNumber = /^(integer|float|monetary)$/.test(field?.type ?? '');
  return (
    <TagsInput
      aria-label={label}
      placeholder={values.length === 0 ? 'Values' : ''}
      size="xs"
      data={(field?.selection ?? []).map(([name]) => String(name))}
      value={values.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))}
      onChange={(texts) =>
        onChange(isNumber ? texts.map(Number).filter(Number.isFinite) : texts.map((text) => text))
      }
    />
  );
}

/** An input for any value as JSON. A text that is not JSON becomes a string. */
function JsonTextInput({ label, isLabelShown = false, value, onChange }: ValueInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      {...(isLabelShown ? { label } : { 'aria-label': label })}
      size="xs"
      placeholder="Value, as JSON or text"
      value={typed ?? (typeof value === 'string' ? value : JSON.stringify(value))}
      onBlur={() => setTyped(null)}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(readValue(currentTarget.value));
      }}
    />
  );
}

function readValue(text: string): Json {
  const value = tryParse(text) as Json | undefined;
  return value === undefined ? text : value;
}
