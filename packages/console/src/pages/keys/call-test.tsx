/** Shows whether a draft of a policy allows a call. Nothing is sent to Odoo. */
import type { Explanation, StarMeaning } from '@erp-proxy/contract';
import { Alert, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AdminRequest, send } from '../../api/send.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { findFault } from '../../parts/find-fault.ts';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { printJson } from '../../parts/print-json.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import type { ReadDraft } from './policy-draft.ts';

export function CallTest({ read, instance }: { read: ReadDraft; instance: string }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [address, setAddress] = useState('');
  const [origin, setOrigin] = useState('');
  const text = typed ?? printExample(instance);
  const call = readJson(text);
  const request: AdminRequest = {
    method: 'POST',
    path: '/policies/explain',
    body: {
      policy: 'policy' in read ? read.policy : null,
      call,
      ...(address === '' ? {} : { address }),
      ...(origin === '' ? {} : { origin }),
    },
  };
  const isComplete = 'policy' in read && call !== undefined;
  const [settled] = useDebouncedValue(request, 350);
  const { data, error } = useQuery({
    queryKey: ['/policies', 'explain', settled.body],
    queryFn: ({ signal }) => send<Explanation>(settled, signal),
    enabled: isComplete,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const isDraftFaulty = findFault(error, 'policy') !== undefined;
  return (
    <Stack gap="sm">
      <JsonEditor
        label="Call"
        description="The body of POST /api/erp/execute. Nothing is sent to Odoo."
        value={text}
        onChange={setTyped}
        minHeight={150}
        maxHeight={320}
      />
      <Group grow gap="sm" align="flex-start">
        <TextInput
          label="Address of the caller"
          placeholder="not checked"
          value={address}
          onChange={({ currentTarget }) => setAddress(currentTarget.value)}
          error={findFault(error, 'address')}
        />
        <TextInput
          label="Origin of the web page"
          placeholder="no web page"
          value={origin}
          onChange={({ currentTarget }) => setOrigin(currentTarget.value)}
          error={findFault(error, 'origin')}
        />
      </Group>
      <div aria-live="polite">
        {'mistake' in read ? (
          <Text size="sm" c="dimmed">
            {read.mistake}
          </Text>
        ) : isDraftFaulty ? (
          <Text size="sm" c="dimmed">
            Correct the policy first.
          </Text>
        ) : error !== null ? (
          <ProblemAlert error={error} />
        ) : (
          isComplete && data !== undefined && <Decision explanation={data} />
        )}
      </div>
      <Group justify="flex-end">
        <AsCode request={request} command={null} />
      </Group>
    </Stack>
  );
}

function Decision({
  explanation: { allowed, rule, approval, message, star, sets },
}: {
  explanation: Explanation;
}) {
  const color = !allowed ? 'red' : approval === null ? 'teal' : 'orange';
  const title = !allowed ? 'Denied' : approval === null ? 'Allowed' : 'Allowed after an approval';
  return (
    <Alert color={color} title={title}>
      <Stack gap={6}>
        <Text size="sm">{message}</Text>
        {rule !== null && (
          <Group gap={6}>
            <Text size="xs" c="dimmed">
              Rule
            </Text>
            <Code>{rule}</Code>
          </Group>
        )}
        {approval !== null && (
          <Group gap={6}>
            <Text size="xs" c="dimmed">
              An administrator must approve it by
            </Text>
            <Code>{approval}</Code>
          </Group>
        )}
        {star !== undefined && <Star meaning={star} />}
        {Object.keys(sets).length > 0 && (
          <div>
            <Text size="xs" c="dimmed">
              The policy sets in the call
            </Text>
            <Code block>{printJson(sets)}</Code>
          </div>
        )}
      </Stack>
    </Alert>
  );
}

/** Folded at first, because `*` stands for some dozen methods of most models. */
function Star({ meaning: { methods, left_out: leftOut } }: { meaning: StarMeaning }) {
  return (
    <Text size="xs" component="details">
      <summary>
        <Code>*</Code> stands for {methods.length} methods of this model, as far as it has them
      </summary>
      <Text size="xs">{methods.join(', ')}</Text>
      <Text size="xs" mt={6}>
        A policy must name others:
      </Text>
      {leftOut.map(({ method, reason }) => (
        <Text key={method} size="xs">
          <Code>{method}</Code> {reason}
        </Text>
      ))}
    </Text>
  );
}

function printExample(instance: string): string {
  return printJson({
    id: 1,
    action: 'search_read',
    model_id: 'res.partner',
    params: [[]],
    keyword: { fields: ['name'], limit: 10 },
    erp_instance: { name: instance },
  });
}

/** Undefined if the text is not JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
