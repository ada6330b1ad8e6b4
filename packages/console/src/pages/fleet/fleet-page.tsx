/** All stored instances side by side: version, whether they answer, keys, times and errors of the last hour. */
import {
  type FleetRow,
  type InstanceView,
  joinFleetRows,
  type StatisticsView,
  type StatusView,
} from '@erp-proxy/contract';
import { Anchor, Badge, Group, Select, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { readAdmin, readAllAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printOptions } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SearchInput } from '../../parts/search-input.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { chooseRows, countRows, listTags } from './choose-rows.ts';
import { fleetRoute } from './route.ts';

const REFRESH_MS = 10_000;
/** The most groups that the statistics give. */
const GROUPS_MAX = 1000;
const COLUMNS = [
  'Name',
  'Tags',
  'Odoo',
  'State',
  'Breaker',
  'Odoo key',
  'Calls',
  'Errors',
  'P95',
  'Changed',
] as const;

export function FleetPage() {
  const { search, tag } = fleetRoute.useSearch();
  const navigate = useNavigate({ from: fleetRoute.fullPath });
  const refetchInterval = REFRESH_MS;
  const instances = useQuery(readAllAdmin<InstanceView>('/instances', {}));
  const status = useQuery({ ...readAdmin<StatusView>('/status'), refetchInterval });
  const statistics = useQuery({
    ...readAdmin<StatisticsView>('/stats', { by: 'instance', limit: GROUPS_MAX }),
    refetchInterval,
  });
  const all = joinFleetRows(
    instances.data?.items ?? [],
    status.data?.upstreams ?? [],
    statistics.data?.groups ?? [],
  );
  const rows = chooseRows(all, { search, tag });
  const counts = countRows(rows);
  return (
    <>
      <PageHeader
        title="Fleet"
        purpose="All instances side by side. Calls and errors are those of the last hour."
      >
        <AsCode
          request={{ method: 'GET', path: '/instances', query: {} }}
          command={`fleet status${printOptions({ tags: tag })}`}
        />
      </PageHeader>
      <Group mb="sm">
        <SearchInput
          label="Search instances"
          value={search}
          onChange={(text) => void navigate({ search: (old) => ({ ...old, search: text }) })}
        />
        <Select
          aria-label="Tag"
          placeholder="All tags"
          data={listTags(all)}
          value={tag ?? null}
          onChange={(chosen) => void navigate({ search: (old) => ({ ...old, tag: chosen ?? undefined }) })}
          clearable
          searchable
        />
        <Text size="sm" c="dimmed" role="status">
          {rows.length} instances, {counts.unreachable} unreachable, {counts.failing} with errors,{' '}
          {counts.endingKeys} with a key that ends soon or has ended
        </Text>
      </Group>
      <ProblemAlert error={instances.error ?? status.error ?? statistics.error} />
      <ListTable
        label="Fleet"
        columns={COLUMNS}
        isLoading={instances.isFetching && instances.data === undefined}
        isEmpty={instances.data !== undefined && rows.length === 0}
        empty={
          all.length === 0
            ? 'There are no instances yet.'
            : 'No instance matches. Clear the search and the tag.'
        }
      >
        {rows.map((row) => (
          <Row key={row.name} row={row} />
        ))}
      </ListTable>
    </>
  );
}

function Row({ row }: { row: FleetRow }) {
  const { name, tags, version, state, breaker, key, calls, errors, p95_ms: p95, changed_at: changedAt } = row;
  return (
    <Table.Tr>
      <Table.Td miw={130}>
        <Anchor fw={500} renderRoot={(props) => <Link to="/instances/$name" params={{ name }} {...props} />}>
          {name}
        </Anchor>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {tags.map((tag) => (
            <Badge key={tag} variant="light" color="gray" tt="none" fw={400}>
              {tag}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td className="data">{version ?? '–'}</Table.Td>
      <Table.Td>
        <StateBadge state={state} />
      </Table.Td>
      <Table.Td>{breaker === null ? '–' : <StateBadge state={breaker} />}</Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <StateBadge state={key.state === 'unknown' ? 'end unknown' : key.state} />
          {key.expires_at !== null && <Time at={key.expires_at} />}
        </Group>
      </Table.Td>
      <Table.Td className="data">{calls.toLocaleString('en')}</Table.Td>
      <Table.Td className="data" {...(errors > 0 ? { c: 'red' } : {})}>
        {errors.toLocaleString('en')}
      </Table.Td>
      <Table.Td className="data">{p95 === null ? '–' : `${p95.toLocaleString('en')} ms`}</Table.Td>
      <Table.Td>
        <Time at={changedAt} />
      </Table.Td>
    </Table.Tr>
  );
}
