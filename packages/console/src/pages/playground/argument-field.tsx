/** An input for one argument of a method, by its name. A value that the input cannot show is edited as JSON. */
import type { Json } from '@erp-proxy/contract';
import { Button, Group, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { type CallForm, CONTEXT, getArgument, NAMED, POSITIONAL, setArgument } from './call-form.ts';
import { DomainField } from './domain-field.tsx';
import { FieldListInput, type Subject } from './field-input.tsx';
import { NumberField } from './number-field.tsx';
import { ValuesField } from './values-field.tsx';

interface ArgumentFieldProps {
  name: string;
  isRequired: boolean;
  args: CallForm['args'];
  onChange: (args: CallForm['args']) => void;
  subject: Subject;
}

const LABELS: Record<string, string> = {
  [POSITIONAL]: 'Positional arguments',
  [NAMED]: 'Named arguments',
  ids: 'Record ids',
  vals: 'Values',
  vals_list: 'Values',
};

const FIELD_LISTS = new Set(['fields', 'allfields', 'groupby', 'field_names', 'fields_to_export']);
const VALUES = new Set(['vals', 'values', 'vals_list', 'default']);
const NUMBERS = new Set(['limit', 'offset']);
const TEXTS = new Set(['order', 'orderby', 'name', 'operator', 'operation']);

export function isShort(name: string): boolean {
  return NUMBERS.has(name) || TEXTS.has(name);
}

export function ArgumentField({ name, isRequired, args, onChange, subject }: ArgumentFieldProps) {
  const text = args[name] ?? '';
  const value = getArgument(args, name);
  const isEmpty = text.trim() === '';
  const label = LABELS[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  const set = (next: Json | undefined) => onChange(setArgument(args, name, next));
  const setText = (next: string) => onChange({ ...args, [name]: next });

  if (name === 'domain') return <DomainField text={text} onChange={setText} subject={subject} />;
  if (name === CONTEXT) return <ContextField text={text} onChange={setText} />;
  if (VALUES.has(name)) return <ValuesField label={label} text={text} onChange={setText} subject={subject} />;
  if (FIELD_LISTS.has(name) && (isEmpty || isListOf('string', value))) {
    return (
      <FieldListInput
        label={label}
        subject={subject}
        value={(value ?? []) as string[]}
        onChange={(names) => set(names.length === 0 ? undefined : names)}
      />
    );
  }
  if (name === 'ids' && (isEmpty || isListOf('number', value))) {
    return (
      <TagsInput
        label={label}
        required={isRequired}
        placeholder={isEmpty ? '1, 2, 3' : undefined}
        splitChars={[',', ' ']}
        value={((value ?? []) as number[]).map(String)}
        onChange={(texts) => {
          const ids = texts.map(Number).filter((id) => Number.isSafeInteger(id));
          set(ids.length === 0 ? undefined : ids);
        }}
      />
    );
  }
  if (NUMBERS.has(name) && (isEmpty || typeof value === 'number')) {
    return (
      <NumberField
        label={label}
        allowNegative={false}
        allowDecimal={false}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => set(typeof next === 'number' ? next : undefined)}
      />
    );
  }
  if (TEXTS.has(name) && (isEmpty || typeof value === 'string')) {
    return (
      <TextInput
        label={label}
        placeholder={name.startsWith('order') ? 'name desc, id' : undefined}
        value={typeof value === 'string' ? value : ''}
        onChange={({ currentTarget }) => set(currentTarget.value === '' ? undefined : currentTarget.value)}
      />
    );
  }
  return (
    <JsonEditor
      label={isRequired ? `${label} (required)` : label}
      value={text}
      onChange={setText}
      placeholder={name === POSITIONAL ? '[[1, 2]]' : name === NAMED ? '{}' : undefined}
      minHeight={44}
    />
  );
}

function isListOf(type: 'string' | 'number', value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === type);
}

/** Inputs for the members that most calls use; the others are edited as JSON. */
function ContextField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const args = { context: text };
  const value = text.trim() === '' ? {} : getArgument(args, 'context');
  const isShown = typeof value === 'object' && value !== null && !Array.isArray(value);
  const context = isShown ? value : {};
  const { lang, tz, allowed_company_ids: companies, ...others } = context;
  const hasOthers = !isShown || Object.keys(others).length > 0;
  const [isJson, setJson] = useState(hasOthers);
  const set = (member: string, next: Json | undefined) => {
    const { [member]: _, ...kept } = context;
    const changed = next === undefined ? kept : { ...kept, [member]: next };
    onChange(Object.keys(changed).length === 0 ? '' : JSON.stringify(changed));
  };
  return (
    <Stack gap={6}>
      {isShown && (
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
          <TextInput
            label="Language"
            placeholder="en_US"
            value={typeof lang === 'string' ? lang : ''}
            onChange={({ currentTarget }) => set('lang', currentTarget.value || undefined)}
          />
          <TextInput
            label="Time zone"
            placeholder="Europe/Paris"
            value={typeof tz === 'string' ? tz : ''}
            onChange={({ currentTarget }) => set('tz', currentTarget.value || undefined)}
          />
          <TagsInput
            label="Company ids"
            splitChars={[',', ' ']}
            value={Array.isArray(companies) ? companies.map(String) : []}
            onChange={(texts) => {
              const ids = texts.map(Number).filter((id) => Number.isSafeInteger(id));
              set('allowed_company_ids', ids.length === 0 ? undefined : ids);
            }}
          />
        </SimpleGrid>
      )}
      {isJson || hasOthers ? (
        <JsonEditor label="Context as JSON" value={text} onChange={onChange} minHeight={44} />
      ) : (
        <Group>
          <ShowJsonButton onClick={() => setJson(true)} />
        </Group>
      )}
    </Stack>
  );
}

function ShowJsonButton({ onClick }: { onClick: () => void }) {
  return (
    <Button size="compact-xs" variant="subtle" onClick={onClick}>
      Edit the context as JSON
    </Button>
  );
}
