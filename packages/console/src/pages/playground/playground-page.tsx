/** Makes calls to Odoo, shows their answers, and prints them as code. */
import {
  Alert,
  Autocomplete,
  Box,
  Button,
  Group,
  Input,
  Kbd,
  Loader,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { readProxyUrl } from '../../api/root.ts';
import { CallCode } from '../../parts/call-code.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { type OdooServer, readFields, readModels } from '../../parts/odoo-queries.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { AnswerView } from './answer-view.tsx';
import { ArgumentField, isShort } from './argument-field.tsx';
import {
  buildCall,
  type CallForm,
  findMethod,
  type KnownMethod,
  listActions,
  listArguments,
} from './call-form.ts';
import { addToHistory, clearHistory, readHistory } from './call-history.ts';
import { ConfirmSend } from './confirm-send.tsx';
import { replaceName } from './describe-answer.ts';
import { DocumentPanel } from './document-panel.tsx';
import { HistoryButton } from './history-button.tsx';
import { type Answer, runCall, type SentCall } from './run-call.ts';
import { ServerFields } from './server-fields.tsx';
import { useCallForm } from './use-call-form.ts';

const NO_FIELDS: FieldTable = {};
const NO_METHODS: KnownMethod[] = [];

export function PlaygroundPage() {
  const [form, change] = useCallForm();
  const [apiKey, setApiKey] = useState('');
  const [history, setHistory] = useState(() => readHistory(localStorage));
  const [asked, setAsked] = useState<SentCall | null>(null);
  const [areMistakesShown, setMistakesShown] = useState(false);
  const { run, send, cancel, clear } = useRun();

  const server = useMemo(() => describeServer(form, apiKey), [form, apiKey]);
  const { data: methods = NO_METHODS, isPending: areMethodsAwaited } = useMethods();
  const method = findMethod(methods, form.model, form.action);
  const { data: fields = NO_FIELDS } = useQuery(readFields(server, form.model));
  const { call, mistakes } = buildCall(form, method);
  const problems = [
    ...(server === null
      ? [{ name: 'server', message: 'Choose an instance, or fill in an address with its key.' }]
      : []),
    ...mistakes,
  ];

  async function sendNow(sent: SentCall) {
    setAsked(null);
    const answer = await send(sent);
    if (answer === null) return;
    const outcome = 'error' in answer.body ? answer.body.error.data.type : 'ok';
    setHistory(
      addToHistory(localStorage, { at: new Date().toISOString(), form, outcome, totalMs: answer.totalMs }),
    );
  }

  function start() {
    // A read would need a confirmation like a write as long as the methods are not known.
    if (areMethodsAwaited) return;
    setMistakesShown(problems.length > 0);
    if (server === null || problems.length > 0 || run.state === 'running') return;
    const sent = { call, server, keyId: form.key, values: form.values };
    if (method.kind === 'read') void sendNow(sent);
    else setAsked(sent);
  }
  useHotkeys([['mod+Enter', start]], [], true);

  function takeName(name: string) {
    if (run.state !== 'answered' || !('error' in run.answer.body)) return;
    const { message, data } = run.answer.body.error;
    if (data.type === 'model_not_found') return change({ model: name });
    const args = replaceName(form.args, message, name);
    if (args !== null) change({ args });
  }

  const names = listArguments(method);
  const required = new Set(method.params?.filter((param) => param.required).map(({ name }) => name));
  const drawArgument = (name: string) => (
    <ArgumentField
      key={name}
      name={name}
      isRequired={required.has(name)}
      args={form.args}
      onChange={(args) => change({ args })}
      subject={{ server, model: form.model, fields }}
    />
  );
  const short = names.filter(isShort);

  return (
    <>
      <PageHeader title="Playground" purpose="Make a call, see its answer, and copy it as code.">
        <HistoryButton
          calls={history}
          onOpen={(past) => {
            change(past);
            clear();
          }}
          onClear={() => {
            clearHistory(localStorage);
            setHistory([]);
          }}
        />
      </PageHeader>
      <div className="playground">
        <Paper withBorder p="md" component="section" aria-label="Call">
          <Stack gap="md">
            <ServerFields form={form} onChange={change} apiKey={apiKey} onApiKeyChange={setApiKey} />
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
              <ModelInput server={server} value={form.model} onChange={(model) => change({ model })} />
              <Autocomplete
                label="Action"
                required
                data={listActions(methods, form.model)}
                value={form.action}
                onChange={(action) => change({ action })}
              />
            </SimpleGrid>
            {names.filter((name) => !isShort(name) && name !== 'context').map(drawArgument)}
            {short.length > 0 && (
              <SimpleGrid cols={{ base: 1, xs: Math.min(3, short.length) }} spacing="xs">
                {short.map(drawArgument)}
              </SimpleGrid>
            )}
            {drawArgument('context')}
            <Group justify="space-between" align="flex-end">
              <Box>
                <Input.Label component="div" id="form-of-values" display="block">
                  Form of values
                </Input.Label>
                <SegmentedControl
                  size="xs"
                  aria-labelledby="form-of-values"
                  data={[
                    { value: 'raw', label: 'As Odoo gives them' },
                    { value: 'normalized', label: 'Normalized' },
                  ]}
                  value={form.values}
                  onChange={(values) => change({ values: values as CallForm['values'] })}
                />
              </Box>
              <Group gap="xs">
                {run.state === 'running' && (
                  <Button variant="default" onClick={cancel}>
                    Cancel
                  </Button>
                )}
                <Button
                  leftSection={<Icon name="play" size={16} />}
                  loading={run.state === 'running'}
                  disabled={areMethodsAwaited}
                  onClick={start}
                >
                  Run
                </Button>
              </Group>
            </Group>
            {areMistakesShown && problems.length > 0 && (
              <Alert color="orange" role="alert" p="xs" title="The call is not complete">
                {problems.map(({ name, message }) => (
                  <Text size="sm" key={name + message}>
                    {/^[A-Z]/.test(message) ? message : `${name} ${message}.`}
                  </Text>
                ))}
              </Alert>
            )}
          </Stack>
        </Paper>
        <Stack gap="md" miw={0}>
          <Paper
            withBorder
            p="md"
            component="section"
            aria-label="Answer"
            aria-busy={run.state === 'running'}
          >
            {run.state === 'none' && (
              <Text c="dimmed" ta="center" py="lg" component="div">
                Run the call to see its answer: <Kbd>Ctrl</Kbd> + <Kbd>Enter</Kbd>
              </Text>
            )}
            {run.state === 'running' && <Loader size="sm" role="status" aria-label="The call is running" />}
            {run.state === 'cancelled' && (
              <Text>
                Cancelled.{' '}
                {method.kind === 'read'
                  ? ''
                  : 'The call may have run: check in Odoo before you send it again.'}
              </Text>
            )}
            {run.state === 'failed' && <ProblemAlert error={run.error} onDismiss={clear} />}
            {run.state === 'answered' && (
              <AnswerView answer={run.answer} fields={fields} onUseName={takeName} />
            )}
          </Paper>
          {form.model !== '' && server !== null && (
            <Paper withBorder p="md" component="section" aria-label="The call as code">
              <Text fw={500} mb="xs">
                As code
              </Text>
              <CallCode
                origin={readProxyUrl()}
                call={call}
                instance={omitSecret(server.instance)}
                areValuesNormalized={form.values === 'normalized'}
              />
            </Paper>
          )}
          {form.model !== '' && server !== null && (
            <DocumentPanel
              key={`${server.identity} ${form.model}`}
              server={server}
              shownInstance={omitSecret(server.instance)}
              model={form.model}
              keyId={form.key}
            />
          )}
        </Stack>
      </div>
      <ConfirmSend
        sent={asked}
        kind={method.kind}
        onSend={(sent) => void sendNow(sent)}
        onClose={() => setAsked(null)}
      />
    </>
  );
}

function useMethods() {
  return useQuery({
    ...readAdmin<{ methods: KnownMethod[] }>('/methods'),
    select: (table) => table.methods,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Null while the members are incomplete. */
function describeServer({ instance, url, db, user }: CallForm, apiKey: string): OdooServer | null {
  if (instance !== '') return { instance: { name: instance }, identity: `instance ${instance}` };
  if (url === '' || db === '' || apiKey === '' || !/^[1-9]\d*$/.test(user)) return null;
  return {
    instance: { url, db, user_id: Number(user), api_key: apiKey },
    identity: `address ${url} ${db} ${user}`,
  };
}

function omitSecret(instance: OdooServer['instance']) {
  if ('name' in instance) return { name: instance.name };
  const { url, db, user_id } = instance;
  return { url, db, user_id };
}

interface ModelInputProps {
  server: OdooServer | null;
  value: string;
  onChange: (model: string) => void;
}

function ModelInput({ server, value, onChange }: ModelInputProps) {
  const [text] = useDebouncedValue(value, 200);
  const { data = [], isError } = useQuery({
    ...readModels(server, text),
    placeholderData: (previous) => previous,
  });
  const labels = new Map(data.map(({ model, name }) => [model, name]));
  return (
    <Autocomplete
      label="Model"
      required
      placeholder="res.partner"
      description={isError ? 'The server does not list its models: type a name' : undefined}
      data={data.map(({ model }) => model)}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
      comboboxProps={{ width: 320, position: 'bottom-start' }}
      renderOption={({ option }) => (
        <div>
          <span className="data">{option.value}</span>
          <Text size="xs" c="dimmed">
            {labels.get(String(option.value))}
          </Text>
        </div>
      )}
    />
  );
}

export type Run =
  | { state: 'none' }
  | { state: 'running' }
  | { state: 'cancelled' }
  | { state: 'failed'; error: Error }
  | { state: 'answered'; answer: Answer };

/**
 * The state of the running call, or of the last one. `send` resolves to the answer, or to null if the call was
 * cancelled or the proxy did not run it.
 */
function useRun() {
  const [run, setRun] = useState<Run>({ state: 'none' });
  const controller = useRef<AbortController>(null);

  useEffect(() => () => controller.current?.abort(), []);

  async function send(sent: SentCall): Promise<Answer | null> {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setRun({ state: 'running' });
    try {
      const answer = await runCall(sent, own.signal);
      setRun({ state: 'answered', answer });
      return answer;
    } catch (error) {
      if (controller.current !== own) return null;
      setRun(own.signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: error as Error });
      return null;
    }
  }

  return {
    run,
    send,
    cancel: () => controller.current?.abort(),
    clear: () => setRun({ state: 'none' }),
  };
}
