/** The jobs of all clients: calls and exports whose callers do not wait. */
import { JOB_STATES, type JobView, type Page } from '@erp-proxy/contract';
import { Anchor, Button, Group, Select, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { KeyLink } from '../../parts/key-link.tsx';
import { useKeyNames } from '../../parts/key-names.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { printOptions } from '../../parts/print-options.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { jobsRoute } from './route.ts';

const REFRESH_MS = 5_000;
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

export function JobsPage() {
  const { state, client, cursor } = jobsRoute.useSearch();
  const navigate = useNavigate({ from: jobsRoute.fullPath });
  const query = { state, client_id: client, cursor };
  const list = useQuery({ ...readAdmin<Page<JobView>>('/jobs', query), refetchInterval: REFRESH_MS });
  const names = useKeyNames((list.data?.items ?? []).map(({ key_id: id }) => id));
  return (
    <>
      <PageHeader
        title="Jobs"
        purpose="Calls, exports and documents that run in the background, because their callers do not wait."
      >
        <AsCode
          request={{ method: 'GET', path: '/jobs', query }}
          command={`jobs list${printOptions({ state, client })}`}
        />
      </PageHeader>
      <Group mb="sm">
        <Select
          aria-label="State"
          placeholder="All states"
          clearable
          data={[...JOB_STATES]}
          value={state ?? null}
          onChange={(next) =>
            void navigate({
              search: (old) => ({
                ...old,
                state: JOB_STATES.find((known) => known === next),
                cursor: undefined,
              }),
            })
          }
        />
        {client !== undefined && (
          <Button
            variant="default"
            onClick={() =>
              void navigate({ search: (old) => ({ ...old, client: undefined, cursor: undefined }) })
            }
          >
            Jobs of all clients
          </Button>
        )}
      </Group>
      <PagedList
        label="Jobs"
        columns={['Call', 'State', 'Server', 'Asked by', 'Result', 'Asked', 'Ended', 'Action']}
        list={list}
        empty="There is none. A request with the header “prefer: respond-async” becomes a job."
        cursor={cursor}
        onTurn={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        renderRow={(job) => <JobRow key={job.id} job={job} keyName={names[job.key_id]} />}
      />
    </>
  );
}

function JobRow({ job, keyName }: { job: JobView; keyName: string | undefined }) {
  const { id, model, action, route, state, instance, key_id, request_id } = job;
  const isOver = job.ended_at !== null;
  return (
    <Table.Tr>
      <Table.Td miw={180}>
        <Anchor
          className="data"
          renderRoot={(props) => <Link to="/calls" search={{ request_id }} {...props} />}
        >
          {model} · {action}
        </Anchor>
        <Text size="xs" c="dimmed">
          {route} · {id}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge state={state} />
        {job.cancel_requested && !isOver && (
          <Text size="xs" c="dimmed">
            being cancelled
          </Text>
        )}
      </Table.Td>
      <Table.Td className="data">{instance ?? 'own credentials'}</Table.Td>
      <Table.Td>
        <KeyLink id={key_id} name={keyName} />
      </Table.Td>
      <Table.Td>{printResult(job)}</Table.Td>
      <Table.Td>
        <Time at={job.created_at} />
      </Table.Td>
      <Table.Td>{isOver && <Time at={job.ended_at} />}</Table.Td>
      <Table.Td>{!isOver && !job.cancel_requested && <CancelButton job={job} />}</Table.Td>
    </Table.Tr>
  );
}

function CancelButton({ job: { id, model, action } }: { job: JobView }) {
  const mutation = useAdminMutation(['/jobs']);
  return (
    <DialogButton
      label="Cancel"
      title="Cancel the job"
      confirmLabel="Cancel the job"
      confirmColor="red.9"
      size="compact-xs"
      aria-label={`Cancel ${id}`}
      mutation={mutation}
      request={{ method: 'POST', path: `/jobs/${id}/cancel` }}
      command={`jobs cancel ${id}`}
    >
      {model} · {action} ends without a result. A write that was sent to Odoo goes on to its end.
    </DialogButton>
  );
}

/** Records and size of the result so far. */
function printResult({ records, bytes, started_at }: JobView): string {
  if (started_at === null) return '';
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = `${(bytes / 1024 ** unit).toLocaleString('en', { maximumFractionDigits: 1 })} ${UNITS[unit]}`;
  return records === null ? size : `${records.toLocaleString('en')} records, ${size}`;
}
