/** Inputs for the values of a record to create or write: one for each field, or JSON. */
import { type Json, tryParse } from '@erp-proxy/contract';
import { ActionIcon, Box, Group, Input, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { JsonEditor, type SuggestJson } from '../../parts/json-editor/json-editor.tsx';
import type { FieldInfo } from '../../parts/odoo-fields.ts';
import { printJson } from '../../parts/print-json.ts';
import { FieldOption, type Subject } from './field-input.tsx';
import { convertValue, findOperator } from './fields.ts';
import { ValueInput } from './value-input.tsx';

interface ValuesFieldProps {
  label: string;
  text: string;
  onChange: (text: string) => void;
  subject: Subject;
}

export function ValuesField({ label, text, onChange, subject }: ValuesFieldProps) {
  const values = readValues(text);
  const [isJson, setJson] = useState(values === null);
  return (
    <Stack gap={6}>
      <Group justify="space-between">
        <Input.Label component="div">{label}</Input.Label>
        <SegmentedControl
          size="xs"
          aria-label={`How ${label} are shown`}
          data={['Fields', 'JSON']}
          value={isJson || values === null ? 'JSON' : 'Fields'}
          onChange={(view) => setJson(view === 'JSON')}
        />
      </Group>
      {isJson || values === null ? (
        <JsonEditor
          label={`${label} as JSON`}
          description={values === null ? 'One record as an object is shown as fields, too' : undefined}
          value={text}
          onChange={onChange}
          suggest={suggestIn(subject)}
        />
      ) : (
        <ValueRows values={values} onChange={(next) => onChange(printJson(next))} subject={subject} />
      )}
    </Stack>
  );
}

/** Null if the text is not an object. */
function readValues(text: string): Record<string, Json> | null {
  if (text.trim() === '') return {};
  const value = tryParse(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, Json>) : null;
}

function suggestIn({ fields }: Subject): SuggestJson {
  return ({ expects }) =>
    expects === 'name'
      ? Object.entries(fields).map(([value, { string, type }]) => ({ value, detail: `${string} · ${type}` }))
      : [];
}

interface ValueRowsProps {
  values: Record<string, Json>;
  onChange: (values: Record<string, Json>) => void;
  subject: Subject;
}

function ValueRows({ values, onChange, subject: { server, fields } }: ValueRowsProps) {
  const [typed, setTyped] = useState('');
  const free = Object.keys(fields).filter((name) => fields[name]?.readonly !== true && !(name in values));
  const required = free.filter((name) => fields[name]?.required === true);
  return (
    <Stack gap={6}>
      {Object.entries(values).map(([name, value]) => (
        <Group key={name} gap={4} wrap="nowrap" align="flex-end">
          <Box style={{ flexGrow: 1, minWidth: 0 }}>
            <ValueInput
              label={name}
              isLabelShown
              server={server}
              field={fields[name]}
              value={value}
              onChange={(next) => onChange({ ...values, [name]: next })}
            />
          </Box>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${name}`}
            onClick={() => {
              const { [name]: _, ...others } = values;
              onChange(others);
            }}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Select
        aria-label="Add a field"
        placeholder="Add a field"
        size="xs"
        searchable
        selectFirstOptionOnChange
        leftSection={<Icon name="plus" size={14} />}
        nothingFoundMessage="No field matches"
        limit={60}
        data={free.toSorted()}
        value={null}
        searchValue={typed}
        onSearchChange={setTyped}
        renderOption={({ option }) => <FieldOption name={option.value} table={fields} />}
        onChange={(name) => {
          if (name !== null) onChange({ ...values, [name]: chooseFirstValue(fields[name]) });
          setTyped('');
        }}
      />
      {required.length > 0 && (
        <Text size="xs" c="dimmed" className="data">
          Required by Odoo: {required.join(', ')}
        </Text>
      )}
    </Stack>
  );
}

function chooseFirstValue(field: FieldInfo | undefined): Json {
  if (field !== undefined && /2many$/.test(field.type)) return [];
  return convertValue('', field?.type, findOperator(field?.type, '=', ''));
}
