/** An input for one rule about the fields of a model. */
import type { FieldRule } from '@erp-proxy/contract';
import { Group, Select, TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type OdooServer, readFields } from '../../parts/odoo-queries.ts';
import { isObject, readTexts } from './policy-draft.ts';
import { isPattern } from './use-live-names.ts';

const OPTIONS_MAX = 60;

interface FieldRuleInputProps {
  rule: FieldRule;
  model: string;
  /** The server that completes names of fields; null: none. */
  server: OdooServer | null;
  onChange: (rule: FieldRule) => void;
}

export function FieldRuleInput({ rule, model, server, onChange }: FieldRuleInputProps) {
  const lists: { allow?: unknown; deny?: unknown } = isObject(rule) ? rule : {};
  const kind = 'allow' in lists ? 'allow' : 'deny';
  const fields = readTexts(lists[kind]);
  const { data: known } = useQuery(readFields(isPattern(model) ? null : server, model));
  const create = (next: string, names: string[]): FieldRule =>
    next === 'allow' ? { allow: names } : { deny: names };
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Select
        aria-label={`Kind of the rule for fields of ${model}`}
        w={104}
        style={{ flexShrink: 0 }}
        allowDeselect={false}
        data={[
          { value: 'allow', label: 'only' },
          { value: 'deny', label: 'all but' },
        ]}
        value={kind}
        onChange={(next) => onChange(create(next ?? kind, fields))}
      />
      <TagsInput
        aria-label={`Fields of ${model}`}
        placeholder={fields.length === 0 ? 'Add a field' : ''}
        data={Object.keys(known ?? {}).toSorted()}
        limit={OPTIONS_MAX}
        value={fields}
        onChange={(names) => onChange(create(kind, names))}
        style={{ flexGrow: 1, minWidth: 0 }}
      />
    </Group>
  );
}
