/** Inputs that complete names of fields. They accept unknown names, too. */
import { Autocomplete, Group, TagsInput, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { type OdooServer, readPath } from '../../parts/odoo-queries.ts';

const OPTIONS_MAX = 60;

/** The properties of the call that inputs of its arguments need. */
export interface Subject {
  server: OdooServer | null;
  model: string;
  fields: FieldTable;
}

interface FieldPathInputProps {
  label: string;
  subject: Subject;
  value: string;
  onChange: (path: string) => void;
}

/** An input for one field, or for a path to a field of a related record: `partner_id.country_id.code`. */
export function FieldPathInput({ label, subject, value, onChange }: FieldPathInputProps) {
  const { data } = useQuery(readPath(useQueryClient(), subject.server, subject.model, value));
  const { prefix = '', table = {} } = data ?? {};
  return (
    <Autocomplete
      aria-label={label}
      placeholder="Field"
      size="xs"
      data={Object.keys(table).map((name) => prefix + name)}
      limit={OPTIONS_MAX}
      value={value}
      onChange={onChange}
      renderOption={({ option }) => {
        const name = option.value.slice(prefix.length);
        return <FieldOption name={name} table={table} />;
      }}
      comboboxProps={{ width: 320, position: 'bottom-start' }}
    />
  );
}

interface FieldListInputProps {
  label: string;
  description?: string;
  subject: Subject;
  value: string[];
  onChange: (names: string[]) => void;
}

export function FieldListInput({ label, description, subject, value, onChange }: FieldListInputProps) {
  return (
    <TagsInput
      label={label}
      description={description}
      placeholder={value.length === 0 ? 'All fields' : undefined}
      data={Object.keys(subject.fields).toSorted()}
      limit={OPTIONS_MAX}
      splitChars={[',', ' ']}
      clearable
      value={value}
      onChange={onChange}
      renderOption={({ option }) => <FieldOption name={String(option.value)} table={subject.fields} />}
    />
  );
}

export function FieldOption({ name, table }: { name: string; table: FieldTable }) {
  const field = table[name];
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap" w="100%">
      <span className="data">{name}</span>
      {field !== undefined && (
        <Text size="xs" c="dimmed" truncate title={`${field.string} · ${field.type}`}>
          {field.string} · {field.type}
        </Text>
      )}
    </Group>
  );
}
