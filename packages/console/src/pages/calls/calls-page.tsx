/** Searches the audit, and follows its newest records. */
import type { AuditView } from '@erp-proxy/contract';
import { Anchor, Button, Drawer, Group, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { locate } from '../../api/send.ts';
import { mayAll } from '../../api/session.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printMoment } from '../../parts/print-moment.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import {
  type AuditSearch,
  hasFilters,
  pickSearch,
  printAuditCommand,
  toAuditQuery,
} from './audit-filters.ts';
import { CallDetails } from './call-details.tsx';
import { CallsTable } from './calls-table.tsx';
import { FilterBar } from './filter-bar.tsx';
import { LiveCalls } from './live-calls.tsx';
import { readAuditPage, readAuditRecord } from './read-audit.ts';
import { callsRoute } from './route.ts';
import { VerifyButton } from './verify-button.tsx';

export function CallsPage() {
  const values = callsRoute.useSearch();
  const navigate = useNavigate({ from: callsRoute.fullPath });
  const search = pickSearch(values);
  const { cursor, live: isLive = false, record } = values;
  const change = (changes: Partial<AuditSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) });
  const select = useCallback(
    (seq: number | undefined) => void navigate({ search: (old) => ({ ...old, record: seq }) }),
    [navigate],
  );

  return (
    <>
      <PageHeader title="Calls" purpose="Each call and each action of an administrator, the newest first.">
        <AsCode
          request={{ method: 'GET', path: '/audit', query: { ...toAuditQuery(search, Date.now()), cursor } }}
          command={printAuditCommand('list', search)}
        />
        <ExportMenu search={search} />
        {mayAll() && <VerifyButton />}
        <Button
          size="xs"
          variant={isLive ? 'filled' : 'default'}
          aria-pressed={isLive}
          leftSection={<Icon name={isLive ? 'pause' : 'play'} size={14} />}
          onClick={() =>
            void navigate({
              search: (old) => ({ ...old, live: isLive ? undefined : true, cursor: undefined }),
            })
          }
        >
          {isLive ? 'Stop following' : 'Follow live'}
        </Button>
      </PageHeader>
      <FilterBar search={search} onChange={change} />
      {isLive ? (
        <LiveCalls key={JSON.stringify(search)} search={search} selected={record} onSelect={select} />
      ) : (
        <FoundCalls
          search={search}
          cursor={cursor}
          selected={record}
          onSelect={select}
          onTurn={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        />
      )}
      <RecordDrawer seq={record} onClose={() => select(undefined)} />
    </>
  );
}

interface FoundCallsProps {
  search: AuditSearch;
  cursor: string | undefined;
  selected: number | undefined;
  onSelect: (seq: number) => void;
  onTurn: (cursor: string | undefined) => void;
}

function FoundCalls({ search, cursor, selected, onSelect, onTurn }: FoundCallsProps) {
  const { data, error, isFetching, refetch } = useQuery(readAuditPage(search, cursor));
  const next = data?.next ?? null;
  return (
    <>
      <ProblemAlert error={error} />
      {(data !== undefined || error === null) && (
        <CallsTable
          rows={data?.items ?? []}
          isLoading={data === undefined}
          empty={<Nothing search={search} cursor={cursor} hasMore={next !== null} />}
          freshCount={0}
          selected={selected}
          onSelect={onSelect}
        />
      )}
      <Group mt="sm" gap="xs">
        <Button variant="default" size="xs" disabled={cursor === undefined} onClick={() => onTurn(undefined)}>
          Newest
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={next === null}
          loading={isFetching && data !== undefined}
          onClick={() => onTurn(next ?? undefined)}
        >
          Older
        </Button>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon name="refresh" size={14} />}
          onClick={() => void refetch()}
        >
          Search again
        </Button>
        <Text size="xs" c="dimmed" role="status">
          {data !== undefined && describeReach(data)}
        </Text>
      </Group>
    </>
  );
}

function describeReach({
  items,
  searchedTo,
}: {
  items: readonly AuditView[];
  searchedTo: string | null;
}): string {
  const count = `${items.length} ${items.length === 1 ? 'record' : 'records'}`;
  return searchedTo === null
    ? `${count}; all of this time was searched.`
    : `${count}; searched back to ${printMoment(searchedTo)}.`;
}

interface NothingProps {
  search: AuditSearch;
  cursor: string | undefined;
  hasMore: boolean;
}

function Nothing({ search, cursor, hasMore }: NothingProps) {
  if (hasMore) return 'No match so far. Press “Older” to search further back.';
  if (cursor !== undefined) return 'No older record matches.';
  if (hasFilters(search)) return 'No record matches. Remove a filter, or choose a longer time.';
  return (
    <>
      No call has been made yet.{' '}
      <Anchor underline="always" renderRoot={(props) => <Link to={'/start'} {...props} />}>
        Make the first one
      </Anchor>
      .
    </>
  );
}

function RecordDrawer({ seq, onClose }: { seq: number | undefined; onClose: () => void }) {
  return (
    <Drawer
      opened={seq !== undefined}
      onClose={onClose}
      position="right"
      size="min(640px, 100vw)"
      title={seq === undefined ? '' : <DrawerTitle seq={seq} />}
    >
      {seq !== undefined && <Record seq={seq} />}
    </Drawer>
  );
}

function DrawerTitle({ seq }: { seq: number }) {
  return (
    <>
      Record {seq}{' '}
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/calls/$id" params={{ id: String(seq) }} {...props} />}
      >
        Open as page
      </Anchor>
    </>
  );
}

function Record({ seq }: { seq: number }) {
  const { data, error } = useQuery(readAuditRecord(seq));
  return (
    <>
      <ProblemAlert error={error} />
      {data !== undefined && <CallDetails record={data} />}
    </>
  );
}

const FORMATS = [
  { format: 'ndjson', label: 'JSON lines (NDJSON)' },
  { format: 'csv', label: 'Spreadsheet (CSV)' },
] as const;

/** Downloads all records that match, the oldest first. */
function ExportMenu({ search }: { search: AuditSearch }) {
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(({ format, label }) => (
          <Menu.Item
            key={format}
            component="a"
            href={locate({ path: '/audit/export', query: { ...toAuditQuery(search, Date.now()), format } })}
            download={`audit.${format}`}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
