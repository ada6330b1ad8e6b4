/** Shows the Odoo databases that the proxy knows, those in trouble first, and the state of the proxy itself. */
import {
  type InstanceView,
  type Page,
  type StatusView,
  splitDatabase,
  type UpstreamView,
} from '@erp-proxy/contract';
import { Badge, Button, Group, Paper, Skeleton, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { PageAnchor } from '../../parts/page-anchor.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { findTargetLink } from '../../parts/target-link.ts';
import { Time } from '../../parts/time.tsx';
import { printDuration } from './print-plot.ts';
import { findInstances, sortUpstreams } from './upstreams.ts';

const REFRESH_MS = 5_000;
const ROWS_SHOWN = 10;
/** The size of one page: the keys of further instances are shown on their own pages. */
const INSTANCES_MAX = 500;

export function Servers({ isPaused }: { isPaused: boolean }) {
  const refetchInterval = isPaused ? false : REFRESH_MS;
  const { data: status, error } = useQuery({ ...readAdmin<StatusView>('/status'), refetchInterval });
  const { data: instances } = useQuery({
    ...readAdmin<Page<InstanceView>>('/instances', { limit: INSTANCES_MAX }),
    staleTime: 60_000,
  });
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="servers">
      <Group justify="space-between" gap="xs" mb={4}>
        <Title order={2} size="h5" id="servers">
          Odoo databases
        </Title>
        {status !== undefined && <ProxyState status={status} />}
      </Group>
      <ProblemAlert error={error} />
      {status === undefined && error === null && <Skeleton h={80} />}
      {status?.upstreams.length === 0 && (
        <Text size="sm" c="dimmed">
          No call has been sent to Odoo since the proxy started.
        </Text>
      )}
      {status !== undefined && status.upstreams.length > 0 && (
        <Upstreams upstreams={sortUpstreams(status.upstreams)} instances={instances?.items ?? []} />
      )}
    </Paper>
  );
}

function ProxyState({
  status: { version, started_at: startedAt, store, checks, audit },
}: {
  status: StatusView;
}) {
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        erp-proxy {version}, store {store}, started <Time at={startedAt} />
      </Text>
      {Object.entries(checks).map(([name, { state, detail }]) => (
        <Group key={name} gap={4} wrap="nowrap" {...(detail === null ? {} : { title: detail })}>
          <Text size="xs">{name.replaceAll('_', ' ')}</Text>
          <StateBadge state={state} />
        </Group>
      ))}
      {audit !== null && audit.waiting > 0 && (
        <Text size="xs" c="dimmed">
          {audit.waiting} records wait for the store
        </Text>
      )}
      {audit !== null && audit.lost > 0 && <Badge color="red">{audit.lost} records lost</Badge>}
    </Group>
  );
}

interface UpstreamsProps {
  upstreams: readonly UpstreamView[];
  instances: readonly InstanceView[];
}

function Upstreams({ upstreams, instances }: UpstreamsProps) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? upstreams : upstreams.slice(0, ROWS_SHOWN);
  return (
    <>
      <Table.ScrollContainer minWidth={860} {...(isAll ? { mah: 480 } : {})}>
        <Table fz="sm" aria-labelledby="servers" verticalSpacing={5}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Database</Table.Th>
              <Table.Th>Version</Table.Th>
              <Table.Th>Protocol</Table.Th>
              <Table.Th>Breaker</Table.Th>
              <Table.Th>Running</Table.Th>
              <Table.Th>Waiting</Table.Th>
              <Table.Th>Mean answer</Table.Th>
              <Table.Th>Stored instances</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((upstream) => (
              <Table.Tr key={upstream.database}>
                <Table.Td className="data" title={upstream.database}>
                  <DatabaseName database={upstream.database} />
                </Table.Td>
                <Table.Td>{upstream.version ?? '–'}</Table.Td>
                <Table.Td>{upstream.protocol ?? '–'}</Table.Td>
                <Table.Td>
                  <Breaker upstream={upstream} />
                </Table.Td>
                <Table.Td>
                  {upstream.running} of {upstream.limit}
                </Table.Td>
                <Table.Td>{upstream.waiting}</Table.Td>
                <Table.Td>{upstream.answer_ms === null ? '–' : printDuration(upstream.answer_ms)}</Table.Td>
                <Table.Td>
                  {findInstances(upstream, instances).map((instance) => (
                    <InstanceKey key={instance.name} instance={instance} />
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {shown.length < upstreams.length && (
        <Button variant="subtle" size="compact-xs" mt={4} onClick={() => setAll(true)}>
          Show all {upstreams.length}
        </Button>
      )}
    </>
  );
}

/** Shows server and database. A part between them, which identifies trusted certificates, is left out. */
function DatabaseName({ database }: Pick<UpstreamView, 'database'>) {
  const { server, db } = splitDatabase(database);
  return (
    <>
      {server} <b>{db}</b>
    </>
  );
}

function Breaker({ upstream: { breaker, retry_after_seconds: seconds } }: { upstream: UpstreamView }) {
  return (
    <Group gap={6} wrap="nowrap" miw="max-content">
      <StateBadge state={breaker} />
      {breaker !== 'closed' && (
        <Text size="xs" c="dimmed">
          next probe in {seconds} s
        </Text>
      )}
    </Group>
  );
}

function InstanceKey({ instance: { name, key } }: { instance: InstanceView }) {
  return (
    <Group gap={6} wrap="nowrap" miw="max-content">
      <PageAnchor className="data" link={findTargetLink(`instance ${name}`)}>
        {name}
      </PageAnchor>
      {key.state === 'expired' && <StateBadge state="expired" />}
      {key.expires_at !== null && (
        <Text size="xs" c="dimmed">
          key ends <Time at={key.expires_at} />
        </Text>
      )}
    </Group>
  );
}
