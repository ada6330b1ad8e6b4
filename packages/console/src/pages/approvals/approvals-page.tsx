/** Lists calls that wait for an administrator's decision, and decided ones. */
import type { ApprovalView, Page } from '@erp-proxy/contract';
import { Anchor, Group, Select, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { KeyLink } from '../../parts/key-link.tsx';
import { useKeyNames } from '../../parts/key-names.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { APPROVAL_STATES, approvalsRoute } from './route.ts';

const REFRESH_MS = 5_000;
const CHOICES = [
  { value: 'pending', label: 'waiting for a decision' },
  ...APPROVAL_STATES.slice(1).map((state) => ({ value: state, label: state })),
  { value: 'all', label: 'all' },
];

export function ApprovalsPage() {
  const { state = 'pending', cursor } = approvalsRoute.useSearch();
  const navigate = useNavigate({ from: approvalsRoute.fullPath });
  const query = { state: state === 'all' ? undefined : state, cursor };
  const list = useQuery({
    ...readAdmin<Page<ApprovalView>>('/approvals', query),
    refetchInterval: REFRESH_MS,
  });
  const names = useKeyNames((list.data?.items ?? []).map(({ key_id: id }) => id));
  return (
    <>
      <PageHeader
        title="Approvals"
        purpose="Calls that a policy lets run only after an administrator has looked at them."
      >
        <AsCode
          request={{ method: 'GET', path: '/approvals', query }}
          command={`approvals list --state ${state}`}
        />
      </PageHeader>
      <Group mb="sm">
        <Select
          aria-label="State"
          data={CHOICES}
          allowDeselect={false}
          value={state}
          onChange={(next) => {
            const found = [...APPROVAL_STATES, 'all' as const].find((choice) => choice === next);
            void navigate({ search: { state: found === 'pending' ? undefined : found } });
          }}
        />
      </Group>
      <PagedList
        label="Approvals"
        columns={['Call', 'State', 'Server', 'Asked by', 'Asked', 'Time ends']}
        list={list}
        empty={
          state === 'pending'
            ? 'No call waits for a decision. The member “approve” of a policy names the calls that do.'
            : 'There is none.'
        }
        cursor={cursor}
        onTurn={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        renderRow={(approval) => (
          <Table.Tr key={approval.id}>
            <Table.Td miw={180}>
              <Anchor
                className="data"
                renderRoot={(props) => <Link to="/approvals/$id" params={{ id: approval.id }} {...props} />}
              >
                {approval.model} · {approval.action}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <StateBadge state={approval.state} />
            </Table.Td>
            <Table.Td className="data">{approval.instance ?? approval.upstream}</Table.Td>
            <Table.Td>
              <KeyLink id={approval.key_id} name={names[approval.key_id]} />
              <Text size="xs" c="dimmed">
                {approval.address}
              </Text>
            </Table.Td>
            <Table.Td>
              <Time at={approval.created_at} />
            </Table.Td>
            <Table.Td>
              <Time at={approval.expires_at} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}
