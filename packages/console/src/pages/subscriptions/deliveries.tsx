/** Lists deliveries, and sends them again. */
import type { DeliveryView, Page, ReplayView } from '@erp-proxy/contract';
import { Alert, Button, Group, Select, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import type { AdminRequest } from '../../api/send.ts';
import { mayAs } from '../../api/session.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { addDays } from '../../parts/local-time.ts';
import { PagedList } from '../../parts/paged-list.tsx';
import { printOptions, quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import { DELIVERY_STATES, subscriptionRoute } from './route.ts';

const REFRESH_MS = 10_000;
const RESOURCES = ['/subscriptions'];

export function Deliveries({ path, name }: { path: string; name: string }) {
  const { state, cursor } = subscriptionRoute.useSearch();
  const navigate = useNavigate({ from: subscriptionRoute.fullPath });
  const [replayed, setReplayed] = useState<number | null>(null);
  const list = useQuery({
    ...readAdmin<Page<DeliveryView>>(`${path}/deliveries`, { state, cursor }),
    refetchInterval: REFRESH_MS,
  });
  const replay = useAdminMutation<ReplayView>(RESOURCES, (answer) => setReplayed(answer.replayed));
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Select
          aria-label="State of the deliveries"
          placeholder="All states"
          clearable
          data={DELIVERY_STATES}
          value={state ?? null}
          onChange={(next) =>
            void navigate({ search: (old) => ({ ...old, state: next ?? undefined, cursor: undefined }) })
          }
        />
        <Group gap="xs">
          <AsCode
            request={{ method: 'GET', path: `${path}/deliveries`, query: { state, cursor } }}
            command={`subscriptions deliveries ${quoteIfNeeded(name)}${printOptions({ state })}`}
          />
          <ReplaySince path={path} name={name} onReplayed={setReplayed} />
        </Group>
      </Group>
      {replayed !== null && (
        <Alert color="teal" withCloseButton closeButtonLabel="Dismiss" onClose={() => setReplayed(null)}>
          {replayed === 1 ? 'One delivery is' : `${replayed.toLocaleString('en')} deliveries are`} sent again.
        </Alert>
      )}
      <ProblemAlert error={replay.error} onDismiss={replay.reset} />
      <PagedList
        label="Deliveries"
        columns={['Created', 'State', 'Type', 'Record', 'Attempts', 'Answer', 'Action']}
        list={list}
        empty={
          state === undefined
            ? 'Nothing was sent yet. A change of a record is sent after the next reading; “Send ping” tries the receiver.'
            : `No delivery is ${state}.`
        }
        cursor={cursor}
        onTurn={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        renderRow={(delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            isPending={replay.isPending}
            onReplay={() =>
              replay.run({ method: 'POST', path: `${path}/replay`, body: { delivery: delivery.id } })
            }
          />
        )}
      />
    </Stack>
  );
}

interface DeliveryRowProps {
  delivery: DeliveryView;
  isPending: boolean;
  onReplay: () => void;
}

function DeliveryRow({ delivery, isPending, onReplay }: DeliveryRowProps) {
  const { id, type, record, state, attempts, next_at, created_at, status, failure, duration_ms } = delivery;
  const canReplay = mayAs('operator') && (state === 'delivered' || state === 'failed') && record !== null;
  return (
    <Table.Tr>
      <Table.Td>
        <Time at={created_at} />
        <div className="data">{id}</div>
      </Table.Td>
      <Table.Td>
        <StateBadge state={state} />
        {next_at !== null && (
          <Text size="xs" c="dimmed">
            sent <Time at={next_at} />
          </Text>
        )}
      </Table.Td>
      <Table.Td className="data">{type}</Table.Td>
      <Table.Td className="data">{record ?? ''}</Table.Td>
      <Table.Td>{attempts}</Table.Td>
      <Table.Td miw={160}>
        {status !== null && <Text size="sm">status {status}</Text>}
        {failure !== null && <div className="data">{failure}</div>}
        {duration_ms !== null && (
          <Text size="xs" c="dimmed">
            {duration_ms.toLocaleString('en')} ms
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {canReplay && (
          <Button
            size="compact-xs"
            variant="default"
            disabled={isPending}
            aria-label={`Send again ${id}`}
            onClick={onReplay}
          >
            Send again
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

interface ReplaySinceProps {
  path: string;
  name: string;
  onReplayed: (count: number) => void;
}

function ReplaySince({ path, name, onReplayed }: ReplaySinceProps) {
  const [since, setSince] = useState<string | null>(() => addDays(-1));
  const replay = useAdminMutation<ReplayView>(RESOURCES, (answer) => onReplayed(answer.replayed));
  const request: AdminRequest = { method: 'POST', path: `${path}/replay`, body: { since } };
  return (
    <DialogButton
      label="Replay"
      title="Send deliveries again"
      confirmLabel="Send again"
      mutation={replay}
      request={since === null ? null : request}
      command={`subscriptions replay ${quoteIfNeeded(name)}${printOptions({ since: since ?? undefined })}`}
    >
      <Stack gap="md">
        <Text size="sm">
          The newest delivery of each record since this time is sent again, with the same webhook-id: a
          receiver skips what it has processed.
        </Text>
        <TimeInput
          label="Since"
          value={since}
          onChange={setSince}
          days={[-1, -2, -7]}
          error={undefined}
          none="No time"
        />
      </Stack>
    </DialogButton>
  );
}
