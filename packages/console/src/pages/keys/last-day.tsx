/** Shows what a draft of a policy would have meant for the real calls of the last day. */
import type { ComparedCalls, PolicyComparison } from '@erp-proxy/contract';
import { Anchor, Badge, Button, Group, List, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type AdminRequest, send } from '../../api/send.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CallsLink } from '../../parts/calls-link.tsx';
import { isSame } from '../../parts/compare-members.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { Time } from '../../parts/time.tsx';
import type { ReadDraft } from './policy-draft.ts';

export function LastDay({ read, clientId }: { read: ReadDraft; clientId: string | null }) {
  const { mutate, data, error, isPending, reset, variables } = useMutation({
    mutationFn: (request: AdminRequest) => send<PolicyComparison>(request),
  });
  const request: AdminRequest = {
    method: 'POST',
    path: '/policies/compare',
    body: {
      policy: 'policy' in read ? read.policy : null,
      ...(clientId === null ? {} : { client_id: clientId }),
    },
  };
  const isOld = data !== undefined && !isSame(variables?.body, request.body);
  return (
    <Stack gap="sm">
      <Text size="sm">
        Checks {clientId === null ? 'all calls' : 'the calls of this key'} of the last 24 hours against the
        draft, as far as the audit knows them. Nothing is sent to Odoo.
      </Text>
      <Group gap="xs">
        <Button
          variant={data === undefined || isOld ? 'filled' : 'default'}
          loading={isPending}
          disabled={'mistake' in read}
          onClick={() => mutate(request)}
        >
          {data === undefined ? 'Compare' : 'Compare again'}
        </Button>
        <AsCode request={request} command={null} />
      </Group>
      {'mistake' in read && (
        <Text size="sm" c="dimmed">
          {read.mistake}
        </Text>
      )}
      <ProblemAlert error={error} onDismiss={reset} />
      {isOld && (
        <Text size="sm" c="orange">
          The draft has changed since this comparison.
        </Text>
      )}
      {data !== undefined && <Comparison comparison={data} />}
    </Stack>
  );
}

const SHOWN_STEP = 100;

function Comparison({ comparison }: { comparison: PolicyComparison }) {
  const { calls, denied, groups, unlisted, unchecked, is_cut, since } = comparison;
  const [shown, setShown] = useState(SHOWN_STEP);
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        <strong>{calls.toLocaleString('en')}</strong> calls since <Time at={since} />,{' '}
        <strong>{denied.toLocaleString('en')}</strong> of them denied.
        {is_cut && ' There may be earlier ones: only the newest were checked.'}
      </Text>
      <ListTable
        label="Calls by method"
        columns={['Decision', 'Method', 'Calls', 'Why']}
        isLoading={false}
        isEmpty={groups.length === 0}
        empty="There were no calls to check."
      >
        {groups.slice(0, shown).map((group) => (
          <GroupRow key={printGroup(group)} group={group} />
        ))}
      </ListTable>
      {groups.length > shown && (
        <Button variant="default" size="xs" onClick={() => setShown(shown + SHOWN_STEP)}>
          Show more of {groups.length.toLocaleString('en')} methods
        </Button>
      )}
      {unlisted > 0 && (
        <Text size="xs" c="dimmed">
          {unlisted.toLocaleString('en')} calls of further methods are not listed.
        </Text>
      )}
      {unchecked.length > 0 && (
        <div>
          <Text size="xs" c="dimmed">
            The audit does not tell enough to check:
          </Text>
          <List size="xs" c="dimmed">
            {unchecked.map(({ rule, reason }) => (
              <List.Item key={rule}>
                <span className="data">{rule}</span>: {reason}
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}

function GroupRow({ group }: { group: ComparedCalls }) {
  const { instance, upstream, model, action, calls, denied_then, rule, message, approval, examples } = group;
  const decision = describeDecision(group);
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td>
        <Badge variant="dot" color={decision.color} tt="none" fw={500} miw="max-content">
          {decision.text}
        </Badge>
      </Table.Td>
      <Table.Td className="data" miw={150}>
        <div>{model}</div>
        <div>{action}</div>
        <Text size="xs" c="dimmed" inherit>
          {instance ?? upstream}
        </Text>
      </Table.Td>
      <Table.Td style={{ fontVariantNumeric: 'tabular-nums' }}>
        {calls.toLocaleString('en')}
        {denied_then > 0 && denied_then < calls && (
          <Text size="xs" c="dimmed">
            {denied_then.toLocaleString('en')} denied then
          </Text>
        )}
      </Table.Td>
      <Table.Td miw={180}>
        {(rule ?? approval) !== null && <div className="data">{rule ?? approval}</div>}
        {message !== null && <Text size="xs">{message}</Text>}
        <Group gap={6}>
          {examples.map((id, place) => (
            <Tooltip key={id} label={id}>
              <Anchor size="xs" renderRoot={(props) => <CallsLink {...props} filters={{ request_id: id }} />}>
                call {place + 1}
              </Anchor>
            </Tooltip>
          ))}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function describeDecision({ denied, denied_then, calls, approval }: ComparedCalls) {
  if (denied) {
    return denied_then === calls
      ? { text: 'denied as before', color: 'gray' }
      : { text: 'denied', color: 'red' };
  }
  if (approval !== null) return { text: 'needs approval', color: 'orange' };
  return denied_then > 0 ? { text: 'allowed now', color: 'teal' } : { text: 'allowed', color: 'teal' };
}

function printGroup({ instance, upstream, model, action, denied, rule, approval }: ComparedCalls): string {
  return JSON.stringify([instance, upstream, model, action, denied, rule, approval]);
}
