import type { ExecuteAnswer } from '@erp-proxy/contract';
import { Badge, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { readProxyUrl } from '../../api/root.ts';
import { type AdminRequest, sendRaw } from '../../api/send.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { JsonView } from '../../parts/json-editor/json-view.tsx';
import type { CallParts } from '../../parts/print-call.ts';
import { printJson } from '../../parts/print-json.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { showJson } from '../../parts/show-json.ts';

interface CallStepProps {
  instance: string;
  keyId: string;
  call: CallParts;
  onDone: () => void;
}

/** Makes the first call under the policy of the new key. */
export function CallStep({ instance, keyId, call, onDone }: CallStepProps) {
  const body = { ...call, erp_instance: { name: instance } };
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => sendAs(keyId, body),
  });
  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <Text size="sm">
          The proxy makes this call as a program with your key would: under its policy and its limits. Web
          pages may use a key only if its policy names them, so that this page does not send the key itself.
        </Text>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Stack gap={6} miw={0}>
            <Text fw={500} size="sm">
              Request <span className="data">POST /api/erp/execute</span>
            </Text>
            <JsonView label="Request" text={printJson(body)} />
          </Stack>
          <Stack gap={6} miw={0}>
            <Group gap="xs">
              <Text fw={500} size="sm">
                Answer
              </Text>
              {data !== undefined && (
                <Badge variant="light" color={data.isError ? 'red' : 'teal'} tt="none">
                  {data.isError ? 'Error' : 'OK'} · {data.status}
                </Badge>
              )}
            </Group>
            {data === undefined ? (
              <Text size="sm" c="dimmed">
                It appears here.
              </Text>
            ) : (
              <JsonView label="Answer" text={data.text} maxHeight={380} />
            )}
          </Stack>
        </SimpleGrid>
        <ProblemAlert error={error} onDismiss={reset} />
        <Group gap="xs">
          <Button
            variant={data === undefined ? 'filled' : 'default'}
            loading={isPending}
            onClick={() => mutate()}
          >
            {data === undefined ? 'Make the call' : 'Make it again'}
          </Button>
          {data !== undefined && <Button onClick={onDone}>Get the code</Button>}
          <AsCode request={describeRequest(keyId, body)} command={printCallCommand(body)} />
        </Group>
      </Stack>
    </Paper>
  );
}

function describeRequest(keyId: string, call: object): AdminRequest {
  return { method: 'POST', path: '/execute', body: { call, key_id: keyId } };
}

/** Prints the command for the same call with the key itself. */
function printCallCommand(call: object): string {
  return `call --url ${readProxyUrl()} --key-file ./erp-proxy.key <<'END'\n${JSON.stringify(call, null, 2)}\nEND`;
}

async function sendAs(keyId: string, call: object) {
  const response = await sendRaw(describeRequest(keyId, call));
  const text = await response.text();
  const isError = 'error' in (JSON.parse(text) as ExecuteAnswer);
  return { status: response.status, text: showJson(text), isError };
}
