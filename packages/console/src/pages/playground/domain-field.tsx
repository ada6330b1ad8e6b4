/**
 * Edits a domain as rows, and as JSON below them. Both show the same text; rows are disabled while they cannot show it.
 */
import { ActionIcon, Alert, Box, Button, Group, Input, Select, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Icon } from '../../parts/icon.tsx';
import { JsonEditor, type SuggestJson } from '../../parts/json-editor/json-editor.tsx';
import { readPath } from '../../parts/odoo-queries.ts';
import { printJson } from '../../parts/print-json.ts';
import { type Condition, type DomainGroup, type DomainNode, parseDomain, printDomain } from './domain.ts';
import { FieldPathInput, type Subject } from './field-input.tsx';
import { convertValue, findOperator, listOperators } from './fields.ts';
import { ValueInput, ValueListInput } from './value-input.tsx';

interface DomainFieldProps {
  text: string;
  onChange: (text: string) => void;
  subject: Subject;
}

const MATCHES = [
  { value: 'all', label: 'All of these match' },
  { value: 'any', label: 'Any of these matches' },
  { value: 'none', label: 'None of these matches' },
];

export function DomainField({ text, onChange, subject }: DomainFieldProps) {
  const root = parseDomain(text);
  return (
    <Stack gap={6}>
      <Input.Label component="div">Domain</Input.Label>
      {root === null ? (
        <Alert color="orange" p="xs">
          The rows return when the JSON below is a domain that they can show.
        </Alert>
      ) : (
        <GroupRows
          group={root}
          isRoot
          subject={subject}
          onChange={(group) => onChange(group === null ? '' : printText(group))}
        />
      )}
      <JsonEditor
        label="Domain as JSON"
        value={text}
        onChange={onChange}
        suggest={suggestIn(subject)}
        placeholder="[] selects all records"
        minHeight={44}
        maxHeight={220}
      />
    </Stack>
  );
}

function printText(group: DomainGroup): string {
  const items = printDomain(group);
  return items.length === 0 ? '' : printJson(items);
}

function suggestIn({ fields }: Subject): SuggestJson {
  const operators = listOperators(undefined).concat(listOperators('integer'), listOperators('many2one'));
  const names = [...new Set(operators.map(({ operator }) => operator))];
  return ({ path }) => {
    if (path.length === 1) return ['&', '|', '!'].map((value) => ({ value }));
    const place = path.at(-1);
    if (place === 1) return names.map((value) => ({ value }));
    if (place !== 0) return [];
    return Object.entries(fields).map(([value, { string, type }]) => ({
      value,
      detail: `${string} · ${type}`,
    }));
  };
}

interface GroupRowsProps {
  group: DomainGroup;
  isRoot?: boolean;
  subject: Subject;
  /** Called with the changed group; null removes it. */
  onChange: (group: DomainGroup | null) => void;
}

function GroupRows({ group, isRoot = false, subject, onChange }: GroupRowsProps) {
  const replace = (index: number, node: DomainNode | null) => {
    const items = group.items.flatMap((item, at) => (at === index ? (node ?? []) : item));
    onChange(items.length === 0 && !isRoot ? null : { ...group, items });
  };
  const add = (node: DomainNode) => onChange({ ...group, items: [...group.items, node] });
  return (
    <Box
      role="group"
      aria-label={isRoot ? 'Conditions' : 'Group of conditions'}
      pl={isRoot ? 0 : 'sm'}
      style={isRoot ? {} : { borderLeft: '2px solid var(--mantine-color-default-border)' }}
    >
      <Stack gap={6}>
        {(group.items.length > 1 || !isRoot || group.match !== 'all') && (
          <Group gap={4} wrap="nowrap">
            <Select
              aria-label="How the conditions are combined"
              size="xs"
              w={200}
              allowDeselect={false}
              data={MATCHES}
              value={group.match}
              onChange={(match) => onChange({ ...group, match: (match ?? 'all') as DomainGroup['match'] })}
            />
            {!isRoot && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label="Remove the group"
                onClick={() => onChange(null)}
              >
                <Icon name="trash" size={16} />
              </ActionIcon>
            )}
          </Group>
        )}
        {group.items.map((item, index) =>
          item.kind === 'group' ? (
            <GroupRows
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity, and keep no state
              key={index}
              group={item}
              subject={subject}
              onChange={(node) => replace(index, node)}
            />
          ) : (
            <ConditionRow
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              key={index}
              condition={item}
              subject={subject}
              onChange={(node) => replace(index, node)}
            />
          ),
        )}
        <Group gap="xs">
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => add(EMPTY_CONDITION)}
          >
            Add condition
          </Button>
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() =>
              add({
                kind: 'group',
                match: group.match === 'any' ? 'all' : 'any',
                items: [EMPTY_CONDITION, EMPTY_CONDITION],
              })
            }
          >
            Add group
          </Button>
        </Group>
      </Stack>
    </Box>
  );
}

const EMPTY_CONDITION: Condition = { kind: 'condition', field: '', operator: '=', value: '' };

interface ConditionRowProps {
  condition: Condition;
  subject: Subject;
  onChange: (condition: Condition | null) => void;
}

function ConditionRow({ condition, subject, onChange }: ConditionRowProps) {
  const { field: path, operator, value } = condition;
  const { data } = useQuery(readPath(useQueryClient(), subject.server, subject.model, path));
  const field = data?.field;
  const listed = listOperators(field?.type);
  const current = findOperator(field?.type, operator, value);
  const options = listed.some(({ label }) => label === current.label) ? listed : [current, ...listed];
  const label = `Value of ${path || 'the condition'}`;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Box style={{ flex: '1 1 0', minWidth: 0 }}>
        <FieldPathInput
          label="Field"
          subject={subject}
          value={path}
          onChange={(next) => onChange({ ...condition, field: next })}
        />
      </Box>
      <Select
        aria-label="Operator"
        size="xs"
        style={{ flex: '0.8 1 0', minWidth: 0 }}
        allowDeselect={false}
        data={options.map((one) => one.label)}
        value={current.label}
        comboboxProps={{ width: 180, position: 'bottom-start' }}
        onChange={(name) => {
          const chosen = options.find((one) => one.label === name) ?? current;
          onChange({
            ...condition,
            operator: chosen.operator,
            value: convertValue(value, field?.type, chosen),
          });
        }}
      />
      <Box style={{ flex: '1 1 0', minWidth: 0 }}>
        {current.takes === 'one' && (
          <ValueInput
            label={label}
            server={subject.server}
            field={field}
            value={value}
            onChange={(next) => onChange({ ...condition, value: next })}
          />
        )}
        {current.takes === 'text' && (
          <ValueInput
            label={label}
            server={subject.server}
            field={{ type: 'char', string: '' }}
            value={value}
            onChange={(next) => onChange({ ...condition, value: next })}
          />
        )}
        {current.takes === 'many' && (
          <ValueListInput
            label={label}
            server={subject.server}
            field={field}
            value={value}
            onChange={(next) => onChange({ ...condition, value: next })}
          />
        )}
      </Box>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Remove the condition"
        onClick={() => onChange(null)}
      >
        <Icon name="trash" size={16} />
      </ActionIcon>
    </Group>
  );
}
