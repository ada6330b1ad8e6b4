/** A form for the members that most policies have. The JSON beside it has all members. */
import type { FieldRule, Policy } from '@erp-proxy/contract';
import {
  ActionIcon,
  Alert,
  Autocomplete,
  Button,
  Fieldset,
  Group,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import type { OdooServer } from '../../parts/odoo-queries.ts';
import { FieldRuleInput } from './field-rule-input.tsx';
import {
  isObject,
  type PolicyDraft,
  type PolicyMembers,
  type ReadDraft,
  readTexts,
  setMembers,
} from './policy-draft.ts';
import type { KnownNames } from './suggest-policy.ts';

interface PolicyFormProps {
  read: ReadDraft;
  known: KnownNames;
  /** The server that completes names of fields; null: none. */
  server: OdooServer | null;
  onChange: (draft: PolicyDraft) => void;
}

export function PolicyForm({ read, known, server, onChange }: PolicyFormProps) {
  if ('mistake' in read && read.mistake.includes('JSON')) {
    return <Alert color="gray">{read.mistake} The form works again once it is corrected.</Alert>;
  }
  const policy: Policy = 'policy' in read && read.policy !== null ? read.policy : { models: {} };
  return (
    <Members
      policy={policy}
      known={known}
      server={server}
      onSet={(members) => onChange(setMembers(policy, members))}
    />
  );
}

interface MembersProps extends Pick<PolicyFormProps, 'known' | 'server'> {
  policy: Policy;
  onSet: (members: PolicyMembers) => void;
}

function Members({ policy, known, server, onSet }: MembersProps) {
  return (
    <Stack gap="md">
      <TagsInput
        label="Instances"
        description="Stored instances that calls may use; * stands for any text"
        placeholder="Add an instance"
        data={[...known.instances]}
        value={readTexts(policy.instances)}
        onChange={(instances) => onSet({ instances })}
        clearable
      />
      <ByModel
        legend="Models and methods"
        addLabel="Add model"
        entries={readEntries(policy.models)}
        known={known}
        emptyValue={['read', 'search_read']}
        onChange={(models) => onSet({ models })}
        renderValue={(methods, model, set) => (
          <TagsInput
            aria-label={`Methods of ${model}`}
            placeholder={readTexts(methods).length === 0 ? 'Add a method' : ''}
            data={[...known.actions]}
            limit={40}
            value={readTexts(methods)}
            onChange={set}
          />
        )}
      />
      <Switch
        label="Reads only"
        description="Only methods that are known to do nothing but read"
        checked={policy.read_only === true}
        onChange={({ currentTarget }) => onSet({ read_only: currentTarget.checked })}
      />
      <ByModel<FieldRule>
        legend="Fields"
        addLabel="Add rule for fields"
        entries={readEntries(policy.fields)}
        known={known}
        emptyValue={{ deny: [] }}
        onChange={(fields) => onSet({ fields })}
        renderValue={(rule, model, set) => (
          <FieldRuleInput rule={rule} model={model} server={server} onChange={set} />
        )}
      />
      <TagsInput
        label="Companies"
        description="Ids of the companies that calls may name; empty: any"
        placeholder="Add an id"
        value={readTexts(policy.companies)}
        onChange={(ids) =>
          onSet({ companies: ids.map(Number).filter((id) => Number.isInteger(id) && id > 0) })
        }
        clearable
      />
      <Fieldset legend="Limits" p="sm">
        <SimpleGrid cols={{ base: 2, xl: 3 }} spacing="sm">
          <Limit
            label="Records of one read"
            value={policy.limit_max}
            onChange={(limit_max) => onSet({ limit_max })}
          />
          <Limit label="Calls per day" value={policy.per_day} onChange={(per_day) => onSet({ per_day })} />
          <Limit
            label="Calls per month"
            value={policy.per_month}
            onChange={(per_month) => onSet({ per_month })}
          />
          <Limit
            label="Calls at once"
            value={policy.concurrency}
            onChange={(concurrency) => onSet({ concurrency })}
          />
          <Limit
            label="Calls per time"
            value={policy.rate?.requests}
            onChange={(requests) =>
              onSet({
                rate: requests === undefined ? undefined : { ...(policy.rate ?? { seconds: 60 }), requests },
              })
            }
          />
          <Limit
            label="The time in seconds"
            value={policy.rate?.seconds}
            isDisabled={policy.rate === undefined}
            onChange={(seconds) =>
              policy.rate !== undefined && onSet({ rate: { ...policy.rate, seconds: seconds ?? 60 } })
            }
          />
        </SimpleGrid>
      </Fieldset>
      <Text size="xs" c="dimmed">
        Approvals, contexts, networks, web pages and other members: in the JSON.
      </Text>
    </Stack>
  );
}

interface LimitProps {
  label: string;
  value: number | undefined;
  isDisabled?: boolean;
  onChange: (value: number | undefined) => void;
}

function Limit({ label, value, isDisabled = false, onChange }: LimitProps) {
  return (
    <NumberInput
      label={label}
      placeholder="no limit"
      min={1}
      allowDecimal={false}
      disabled={isDisabled}
      value={typeof value === 'number' ? value : ''}
      onChange={(given) => onChange(typeof given === 'number' ? given : undefined)}
    />
  );
}

interface ByModelProps<Value> {
  legend: string;
  addLabel: string;
  entries: [string, Value][];
  known: KnownNames;
  emptyValue: Value;
  onChange: (entries: Record<string, Value>) => void;
  renderValue: (value: Value, model: string, set: (value: Value) => void) => React.ReactNode;
}

function ByModel<Value>({
  legend,
  addLabel,
  entries,
  known,
  emptyValue,
  onChange,
  renderValue,
}: ByModelProps<Value>) {
  const [added, setAdded] = useState('');
  const taken = new Set(entries.map(([model]) => model));
  const set = (next: [string, Value][]) => onChange(Object.fromEntries(next));
  const add = () => {
    const model = added.trim();
    if (model === '' || taken.has(model)) return;
    set([...entries, [model, emptyValue]]);
    setAdded('');
  };
  return (
    <Fieldset legend={legend} p="sm">
      <Stack gap="xs">
        {entries.map(([model, value]) => (
          <Group key={model} gap="xs" wrap="nowrap" align="flex-start">
            <Group gap="xs" align="flex-start" style={{ flexGrow: 1, minWidth: 0 }}>
              <Text className="data" pt={9} style={{ flex: '1 1 130px' }}>
                {model}
              </Text>
              <div style={{ flex: '3 1 220px', minWidth: 0 }}>
                {renderValue(value, model, (next) =>
                  set(entries.map((entry) => (entry[0] === model ? [model, next] : entry))),
                )}
              </div>
            </Group>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Remove ${model}`}
              onClick={() => set(entries.filter((entry) => entry[0] !== model))}
            >
              <Icon name="cross" size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="xs" wrap="nowrap">
          <Autocomplete
            aria-label={`${addLabel}: name or pattern`}
            placeholder="res.partner, sale.*"
            data={known.models.filter((model) => !taken.has(model))}
            limit={40}
            value={added}
            onChange={setAdded}
            onKeyDown={(event) => {
              // If an option has the focus, Enter only puts it into the input.
              const hasOption = event.currentTarget.getAttribute('aria-activedescendant');
              if (event.key === 'Enter' && !hasOption) add();
            }}
            style={{ flexGrow: 1, minWidth: 0 }}
            spellCheck={false}
          />
          <Button
            variant="default"
            aria-label={addLabel}
            style={{ flexShrink: 0 }}
            onClick={add}
            disabled={added.trim() === '' || taken.has(added.trim())}
          >
            Add
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function readEntries<Value>(value: Record<string, Value> | undefined): [string, Value][] {
  return isObject(value) ? Object.entries(value) : [];
}
