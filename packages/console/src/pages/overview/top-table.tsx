/** Shows the groups with the most calls, each with a link to its calls. */
import type { StatisticsDimension, StatisticsView } from '@erp-proxy/contract';
import { Anchor, Paper, Progress, Skeleton, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { useKeyNames } from '../../parts/key-names.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { countErrors } from './periods.ts';
import { printCount, printDuration } from './print-plot.ts';
import { RANGES, type RangeName } from './ranges.ts';
import { readGroups } from './read-statistics.ts';

interface TopTableProps {
  title: string;
  by: StatisticsDimension;
  range: RangeName;
  isPaused: boolean;
}

export function TopTable({ title, by, range, isPaused }: TopTableProps) {
  const headingId = useId();
  const { data, error } = useQuery(readGroups(range, by, isPaused));
  const keyNames = useKeyNames(by === 'key' ? (data?.groups ?? []).map(({ name }) => name) : []);
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={headingId}>
      <Title order={2} size="h5" id={headingId} mb={4}>
        {title}
      </Title>
      <ProblemAlert error={error} />
      {data === undefined && error === null && <Skeleton h={120} />}
      {data?.groups.length === 0 && (
        <Text size="sm" c="dimmed">
          No calls in this time.
        </Text>
      )}
      {data !== undefined && data.groups.length > 0 && (
        <Table.ScrollContainer minWidth={380}>
          <Table fz="sm" aria-labelledby={headingId} verticalSpacing={5}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th w={120}>Calls</Table.Th>
                <Table.Th w={70}>Errors</Table.Th>
                <Table.Th w={90}>Odoo p95</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sortGroups(data.groups).map((group) => (
                <GroupRow
                  key={group.name ?? ''}
                  group={group}
                  by={by}
                  keyName={group.name === null ? undefined : keyNames[group.name]}
                  last={RANGES[range].last}
                  total={data.total.calls}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}

/** Puts the group of calls without a name last. */
function sortGroups(groups: StatisticsView['groups']): StatisticsView['groups'] {
  return groups.toSorted((one, other) => Number(one.name === null) - Number(other.name === null));
}

interface GroupRowProps {
  group: StatisticsView['groups'][number];
  by: StatisticsDimension;
  /** Undefined if the group is not a key, or if the key's name is not known. */
  keyName: string | undefined;
  last: string;
  total: number;
}

function GroupRow({ group, by, keyName, last, total }: GroupRowProps) {
  const { name, calls, odoo_ms: odooMs } = group;
  const errors = countErrors(group);
  const share = total === 0 ? 0 : (calls / total) * 100;
  return (
    <Table.Tr>
      <Table.Td>
        {name === null ? (
          <Text size="sm" c="dimmed" title="Calls without a name, and those whose names are not kept apart">
            others
          </Text>
        ) : (
          <Anchor
            className="data"
            renderRoot={(props) => (
              <Link to="/calls" search={{ ...findGroupSearch(by, name), last }} {...props} />
            )}
          >
            {keyName === undefined ? name : `${keyName} (${name})`}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>
        {printCount(calls)}
        <Text span size="xs" c="dimmed">
          {' '}
          {share.toFixed(share < 10 ? 1 : 0)}%
        </Text>
        <Progress value={share} size={4} mt={2} aria-hidden="true" />
      </Table.Td>
      <Table.Td>
        <Text size="sm" {...(errors > 0 ? { c: 'red' } : { c: 'dimmed' })}>
          {printCount(errors)}
        </Text>
      </Table.Td>
      <Table.Td>{odooMs === null ? '–' : printDuration(odooMs.p95)}</Table.Td>
    </Table.Tr>
  );
}

/** Builds the audit search for the calls of a statistics group. Pure. */
function findGroupSearch(by: StatisticsDimension, name: string): Record<string, string> {
  switch (by) {
    case 'key':
      return { client_id: name };
    case 'instance':
      // For a call with its own credentials, the name of the instance is the address of the server.
      return name.includes('://') ? { upstream: name } : { instance: name };
    default:
      return { [by]: name };
  }
}
