/** Shows one record of the audit, of a call or of a change by an administrator. */
import type { ActorView, AuditAdminView, AuditCallView, AuditView, Page } from '@erp-proxy/contract';
import { Alert, Anchor, Button, Code, Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { ClippedText } from '../../parts/clipped-text.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isStoredKey, useKeyNames } from '../../parts/key-names.ts';
import { OutcomeBadge } from '../../parts/outcome-badge.tsx';
import { PageAnchor } from '../../parts/page-anchor.tsx';
import { printExactMoment } from '../../parts/print-moment.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { findTargetLink } from '../../parts/target-link.ts';
import { Time } from '../../parts/time.tsx';
import { AdminChanges } from './admin-changes.tsx';
import { FILTERS, type FilterName } from './audit-filters.ts';
import { explainOutcome, splitCode } from './explain-outcome.ts';
import { nameCall, printMs } from './print-call.ts';
import { TraceLink } from './trace-link.tsx';

export function CallDetails({ record }: { record: AuditView }) {
  switch (record.kind) {
    case 'call':
      return <Call call={record} />;
    case 'admin':
      return <AdminAction record={record} />;
    default:
      return (
        <Alert color="red" icon={<Icon name="warning" />} title={`Record ${record.seq} is damaged`}>
          {record.problem}
        </Alert>
      );
  }
}

function Call({ call }: { call: AuditCallView }) {
  const { instance, model, action, request_id: requestId } = call;
  const playground = {
    instance: instance ?? undefined,
    model: model ?? undefined,
    action: action ?? undefined,
  };
  return (
    <Stack gap="md">
      <Group gap="sm">
        <OutcomeBadge outcome={call.outcome} />
        <Text className="data" fw={600}>
          {nameCall(call)}
        </Text>
      </Group>
      <Meaning call={call} />
      <Timing call={call} />
      {model !== null && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="play" size={14} />}
            renderRoot={(props) => <Link to="/playground" search={playground} {...props} />}
          >
            Open in playground
          </Button>
        </Group>
      )}
      <CallMembers call={call} />
      {call.batch_index !== null && requestId !== null && <Siblings call={call} requestId={requestId} />}
    </Stack>
  );
}

/** Shows the members of a call. Each can be searched for, and links to the page of its object. */
function CallMembers({ call }: { call: AuditCallView }) {
  const { instance, model, action, request_id: requestId } = call;
  const names = useKeyNames([call.key_id]);
  return (
    <Members label="Members of the call">
      <Member name="Time">
        <ExactTime time={call.time} />
      </Member>
      <Member name="Key">
        <KeyName name={call.key_id === null ? undefined : names[call.key_id]} />
        <Filterable name="key_id" value={call.key_id} />
        {call.key_id !== null && isStoredKey(call.key_id) && (
          <OpenLink target={`key ${call.key_id}`}>Open key</OpenLink>
        )}
      </Member>
      {call.person !== undefined && (
        <Member name="Person">
          <Filterable name="person" value={call.person} /> as {revealInvisible(call.odoo_login ?? '')}
        </Member>
      )}
      {call.actor !== undefined && <ActorMember actor={call.actor} />}
      <SearchedMember filter="client_id" value={call.client_id} />
      <SearchedMember filter="address" value={call.address} />
      <Member name="Instance">
        <Filterable name="instance" value={instance} />
        {instance !== null && <OpenLink target={`instance ${instance}`}>Open instance</OpenLink>}
      </Member>
      <SearchedMember filter="upstream" value={call.upstream} />
      <SearchedMember filter="db" value={call.db} />
      <SearchedMember filter="model" value={model} />
      <SearchedMember filter="action" value={action} />
      <SearchedMember filter="outcome" value={call.outcome} />
      <Member name="Policy rule">
        <Filterable name="rule" value={call.rule} />
        {call.rule !== null && !call.rule.startsWith('key:') && call.key_id !== null && (
          <OpenLink target={`key ${call.key_id}`}>Open policy</OpenLink>
        )}
      </Member>
      <Member name="Approval">
        <Filterable name="approval" value={call.approval} />
        {call.approval !== null && <OpenLink target={`approval ${call.approval}`}>Open approval</OpenLink>}
      </Member>
      <Member name="Made by">
        {call.via === null ? (
          <Text span size="sm">
            the caller
          </Text>
        ) : (
          <Filterable name="via" value={call.via} />
        )}
      </Member>
      <Member name="Request">
        <Filterable name="request_id" value={requestId} />
        {requestId !== null && <CopyText text={requestId} label="Copy the id of the request" />}
      </Member>
      <Member name="Trace">
        {call.trace_id === undefined ? (
          <None />
        ) : (
          <>
            <Filterable name="trace_id" value={call.trace_id} />
            <TraceLink traceId={call.trace_id} />
          </>
        )}
      </Member>
      <Member name="Code of the error">{call.code === null ? <None /> : String(call.code)}</Member>
      <Member name="HTTP status">{call.http_status}</Member>
      <Member name="Position in the batch">
        {call.batch_index === null ? 'a single call' : String(call.batch_index)}
      </Member>
      <Member name="Number in the audit">{call.seq}</Member>
    </Members>
  );
}

function OpenLink({ target, children }: { target: string; children: string }) {
  return (
    <>
      {' '}
      <PageAnchor link={findTargetLink(target)}>{children}</PageAnchor>
    </>
  );
}

/** Explains the outcome, and says what to do. */
function Meaning({ call }: { call: AuditCallView }) {
  const explanation = explainOutcome(call.outcome);
  if (explanation === null) return null;
  const { source, meaning, remedy, retry } = explanation;
  return (
    <Alert
      color="orange"
      title={source === 'proxy' ? 'The proxy refused or failed the call' : 'Odoo answered with an error'}
    >
      <Stack gap={4}>
        <Words text={meaning} />
        {remedy !== null && <Words text={remedy} />}
        <Text size="sm">{retry}</Text>
      </Stack>
    </Alert>
  );
}

function Words({ text }: { text: string }) {
  return (
    <Text size="sm">
      {splitCode(text).map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text keep their places
        part.isCode ? <Code key={index}>{part.text}</Code> : part.text,
      )}
    </Text>
  );
}

/** Shows how the time of the call is divided between Odoo and the proxy. */
function Timing({ call: { total_ms: totalMs, upstream_ms: upstreamMs } }: { call: AuditCallView }) {
  const odooMs = Math.min(upstreamMs ?? 0, totalMs);
  const share = totalMs === 0 ? 0 : (odooMs / totalMs) * 100;
  const text =
    upstreamMs === null
      ? `${printMs(totalMs)} in the proxy; nothing was sent to Odoo`
      : `${printMs(totalMs)}: ${printMs(odooMs)} until Odoo answered, ${printMs(totalMs - odooMs)} for the rest`;
  return (
    <div>
      <Progress.Root size="lg" aria-hidden="true">
        <Progress.Section value={share} color="violet" />
        <Progress.Section value={100 - share} color="teal" />
      </Progress.Root>
      <Text size="xs" mt={4}>
        {text}
      </Text>
      <Group gap="md" mt={2}>
        <Legend color="violet" text="Odoo, until its answer began" />
        <Legend color="teal" text="Proxy, waiting, and passing the answer on" />
      </Group>
    </div>
  );
}

function Legend({ color, text }: { color: string; text: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <span
        style={{ width: 10, height: 10, borderRadius: 2, background: `var(--mantine-color-${color}-filled)` }}
      />
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Group>
  );
}

/** The time around a call in which the other calls of its batch are searched: they end within its time limit. */
const BATCH_MS = 15 * 60_000;

function Siblings({ call, requestId }: { call: AuditCallView; requestId: string }) {
  const at = Date.parse(call.time);
  const { data, error } = useQuery(
    readAdmin<Page<AuditView>>('/audit', {
      request_id: requestId,
      since: new Date(at - BATCH_MS).toISOString(),
      until: new Date(at + BATCH_MS).toISOString(),
      limit: 100,
    }),
  );
  const siblings = (data?.items ?? [])
    .filter((record) => record.kind === 'call')
    .sort((one, other) => (one.batch_index ?? 0) - (other.batch_index ?? 0));
  return (
    <section aria-label="Calls of the batch">
      <Title order={3} size="h5" mb="xs">
        Calls of the batch
      </Title>
      <ProblemAlert error={error} />
      <Table.ScrollContainer minWidth={360}>
        <Table fz="sm" aria-label="Calls of the batch">
          <Table.Tbody>
            {siblings.map((sibling) => (
              <Table.Tr key={sibling.seq}>
                <Table.Td>{sibling.batch_index}</Table.Td>
                <Table.Td className="data">
                  {sibling.seq === call.seq ? (
                    `${nameCall(sibling)} (this one)`
                  ) : (
                    <Anchor
                      renderRoot={(props) => (
                        <Link to="/calls/$id" params={{ id: String(sibling.seq) }} {...props} />
                      )}
                    >
                      {nameCall(sibling)}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td>
                  <OutcomeBadge outcome={sibling.outcome} />
                </Table.Td>
                <Table.Td>{printMs(sibling.total_ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

function AdminAction({ record }: { record: AuditAdminView }) {
  const targetLink = findTargetLink(record.target);
  return (
    <Stack gap="md">
      <Text className="data" fw={600}>
        {record.action}
      </Text>
      <Members label="Members of the action">
        <Member name="Time">
          <ExactTime time={record.time} />
        </Member>
        <ActorMember actor={record.actor} />
        <SearchedMember filter="address" value={record.address} />
        <SearchedMember filter="action" value={record.action} />
        <Member name="Target">
          <ClippedText text={record.target} label="the target" />{' '}
          {targetLink !== null && <PageAnchor link={targetLink}>Open target</PageAnchor>}
        </Member>
        <SearchedMember filter="request_id" value={record.request_id} />
        <Member name="Number in the audit">{record.seq}</Member>
      </Members>
      <AdminChanges changes={record.changes} />
    </Stack>
  );
}

function Members({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Table aria-label={label} fz="sm" verticalSpacing={6} layout="fixed">
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

function Member({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w={150} fw={500} c="dimmed" style={{ verticalAlign: 'top' }}>
        {name}
      </Table.Th>
      <Table.Td>{children}</Table.Td>
    </Table.Tr>
  );
}

/** A member whose value is a link to all records that have the same value. */
function SearchedMember({ filter, value }: { filter: FilterName; value: string | null }) {
  return (
    <Member name={FILTERS[filter].label}>
      <Filterable name={filter} value={value} />
    </Member>
  );
}

function ActorMember({ actor: { type, id, name } }: { actor: ActorView }) {
  return (
    <Member name={FILTERS.actor.label}>
      <ClippedText text={name} label="the name" /> ({type})
      <div>
        <Filterable name="actor" value={id} />
      </div>
    </Member>
  );
}

function ExactTime({ time }: { time: string }) {
  return (
    <>
      <span className="data">{printExactMoment(time)}</span> (<Time at={time} />)
    </>
  );
}

/** Shows the present name of the key, above its id. */
function KeyName({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <div>
      <ClippedText text={name} label="the name of the key" />
    </div>
  );
}

/** A value with a link to all records that have the same value. */
function Filterable({ name, value }: { name: FilterName; value: string | null }) {
  if (value === null) return <None />;
  return (
    <Anchor
      className="data"
      title="Search for this value"
      renderRoot={(props) => <Link to="/calls" search={{ [name]: value }} {...props} />}
    >
      {value}
    </Anchor>
  );
}

function None() {
  return (
    <Text span size="sm" c="dimmed">
      none
    </Text>
  );
}
