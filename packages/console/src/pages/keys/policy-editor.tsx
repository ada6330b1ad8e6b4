/**
 * Edits a policy, as JSON or by a form. Shows what it would mean for a given call and for the calls of the last day.
 */
import type {
  Explanation,
  InstanceView,
  InvalidMember,
  MethodsView,
  Page,
  StatisticsView,
} from '@erp-proxy/contract';
import { Alert, Button, Group, Radio, SimpleGrid, Stack, Tabs, Text, Tooltip } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { ProblemError, send } from '../../api/send.ts';
import { JsonEditor, type JsonPlace } from '../../parts/json-editor/json-editor.tsx';
import { addDays } from '../../parts/local-time.ts';
import { listPolicyTemplates } from '../../parts/policy-templates.ts';
import { printJson } from '../../parts/print-json.ts';
import { CallTest } from './call-test.tsx';
import { LastDay } from './last-day.tsx';
import { NameSource } from './name-source.tsx';
import { chooseInstance, type PolicyDraft, type ReadDraft, readDraft } from './policy-draft.ts';
import { PolicyForm } from './policy-form.tsx';
import {
  COMMON_ACTIONS,
  COMMON_MODELS,
  findFieldsModel,
  type KnownNames,
  suggestPolicy,
} from './suggest-policy.ts';
import { type LiveNames, useLiveNames } from './use-live-names.ts';

interface PolicyEditorProps {
  draft: PolicyDraft;
  onChange: (draft: PolicyDraft) => void;
  /** Why the policy could not be saved. */
  error: Error | null;
  /** The client with whose calls the draft is compared; null: those of all clients. */
  clientId: string | null;
}

export function PolicyEditor({ draft, onChange, error, clientId }: PolicyEditorProps) {
  const read = readDraft(draft);
  const [source, setSource] = useState<string | null>(null);
  const live = useLiveNames(source);
  const known = useKnownNames(live.models);
  const suggest = async (place: JsonPlace) => {
    const model = findFieldsModel(place);
    return suggestPolicy(place, known, model === null ? {} : await live.findFields(model));
  };
  const faults = useFaults(draft, error);
  return (
    <Stack gap="md">
      <Radio.Group
        label="Rights of the key"
        value={draft.isRestricted ? 'policy' : 'everything'}
        onChange={(value) => onChange({ ...draft, isRestricted: value === 'policy' })}
      >
        <Group gap="lg" mt={6}>
          <Radio value="policy" label="What its policy allows" />
          <Radio value="everything" label="Everything (no policy)" />
        </Group>
      </Radio.Group>
      {!draft.isRestricted && (
        <Alert color="orange">
          Without a policy, the key may call any method on any stored instance and on any server that egress
          allows. Web pages cannot use it.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        {draft.isRestricted && (
          <Stack gap="xs" miw={0}>
            <Templates
              instance={known.instances[0] ?? 'prod'}
              onChoose={(text) => onChange({ isRestricted: true, text })}
            />
            <NameSource read={read} value={source} onChange={setSource} live={live} />
            <JsonEditor
              label="Policy"
              description="Ctrl+Space completes names. It allows only what it names."
              value={draft.text}
              onChange={(text) => onChange({ isRestricted: true, text })}
              suggest={suggest}
              faults={faults}
              placeholder='{ "instances": ["prod"], "models": { "res.partner": ["read"] } }'
              minHeight={320}
              maxHeight={640}
            />
            <Faults faults={faults} />
          </Stack>
        )}
        <Tabs defaultValue={draft.isRestricted ? 'form' : 'test'} miw={0}>
          <Tabs.List mb="sm">
            {draft.isRestricted && <Tabs.Tab value="form">Form</Tabs.Tab>}
            <Tabs.Tab value="test">Test a call</Tabs.Tab>
            <Tabs.Tab value="day">Last day</Tabs.Tab>
          </Tabs.List>
          {draft.isRestricted && (
            <Tabs.Panel value="form">
              <PolicyForm read={read} known={known} server={live.server} onChange={onChange} />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="test">
            <CallTest read={read} instance={chooseInstance(read, known.instances)} />
          </Tabs.Panel>
          <Tabs.Panel value="day">
            <LastDay read={read} clientId={clientId} />
          </Tabs.Panel>
        </Tabs>
      </SimpleGrid>
    </Stack>
  );
}

function Templates({ instance, onChoose }: { instance: string; onChoose: (text: string) => void }) {
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        Begin with
      </Text>
      {listPolicyTemplates(instance).map(({ id, name, purpose, policy }) => (
        <Tooltip
          key={id}
          label={purpose}
          multiline
          maw={280}
          events={{ hover: true, focus: true, touch: false }}
        >
          <Button size="compact-sm" variant="default" onClick={() => onChoose(printJson(policy))}>
            {name}
          </Button>
        </Tooltip>
      ))}
    </Group>
  );
}

function Faults({ faults }: { faults: readonly InvalidMember[] }) {
  return (
    <Stack gap={2} role="status">
      {faults.map(({ path, message }) => (
        <Text key={`${path} ${message}`} size="xs" c="red">
          <span className="data">{path === '' ? 'The policy' : path}</span> {message}
        </Text>
      ))}
    </Stack>
  );
}

const PATH = /^policy\.?/;
/** A placeholder: only the policy is checked. */
const ANY_CALL = {
  id: 1,
  action: 'read',
  model_id: 'res.partner',
  params: [[1]],
  erp_instance: { name: 'any' },
};

/** The faults of the draft, which the proxy checks while it is written. */
function useFaults(draft: PolicyDraft, error: Error | null): InvalidMember[] {
  const [settled] = useDebouncedValue(draft, 350);
  const read: ReadDraft = readDraft(settled);
  const { error: found } = useQuery({
    queryKey: ['/policies', 'faults', settled],
    queryFn: ({ signal }) => {
      const body = { policy: 'policy' in read ? read.policy : null, call: ANY_CALL };
      return send<Explanation>({ method: 'POST', path: '/policies/explain', body }, signal);
    },
    enabled: settled.isRestricted && 'policy' in read,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Until the new check has ended, shows the faults of the last attempt to save.
  return listFaults(found ?? error);
}

function listFaults(error: Error | null): InvalidMember[] {
  const faults = error instanceof ProblemError ? (error.problem.faults ?? []) : [];
  return faults
    .filter(({ path }) => PATH.test(path))
    .map(({ path, message }) => ({ path: path.replace(PATH, ''), message }));
}

const GROUPS_MAX = 100;
const DAYS = 30;

/**
 * Names to choose from: stored instances, models and methods of recent calls, and known methods of Odoo. `live`: models
 * of the chosen server.
 */
function useKnownNames(live: LiveNames['models']): KnownNames {
  const [since] = useState(() => addDays(-DAYS).slice(0, 10));
  const query = { since, step: 'hour', limit: GROUPS_MAX };
  const { data: instances } = useQuery(readAdmin<Page<InstanceView>>('/instances', { limit: GROUPS_MAX }));
  const { data: models } = useQuery(readAdmin<StatisticsView>('/stats', { ...query, by: 'model' }));
  const { data: actions } = useQuery(readAdmin<StatisticsView>('/stats', { ...query, by: 'action' }));
  const { data: methods } = useQuery({
    ...readAdmin<MethodsView>('/methods'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(
    () => ({
      instances: instances?.items.map(({ name }) => name) ?? [],
      models: mergeNames(models, [...COMMON_MODELS, ...Object.keys(live)]),
      labels: live,
      actions: mergeNames(actions, [
        ...COMMON_ACTIONS,
        ...(methods?.methods.map(({ action }) => action) ?? []),
      ]),
    }),
    [instances, models, actions, methods, live],
  );
}

function mergeNames(statistics: StatisticsView | undefined, common: readonly string[]): string[] {
  const called = statistics?.groups.map(({ name }) => name).filter((name) => name !== null) ?? [];
  return [...new Set([...called, ...common])];
}
