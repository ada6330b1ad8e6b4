/** Shows one record of the audit by its number, or all records of a request by its id. */
import type { AuditView, Page } from '@erp-proxy/contract';
import { Divider, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { CallDetails } from './call-details.tsx';
import { readAuditRecord } from './read-audit.ts';
import { callRoute } from './route.ts';

export function CallPage() {
  const { id } = callRoute.useParams();
  return /^\d{1,15}$/.test(id) ? <OneRecord seq={Number(id)} /> : <RequestRecords requestId={id} />;
}

function OneRecord({ seq }: { seq: number }) {
  const { data, error } = useQuery(readAuditRecord(seq));
  return (
    <Stack maw={860} gap="md">
      <PageHeader title={`Record ${seq}`}>
        <AsCode request={{ method: 'GET', path: `/audit/${seq}` }} command={null} />
      </PageHeader>
      <ProblemAlert error={error} />
      {data !== undefined && <CallDetails record={data} />}
    </Stack>
  );
}

function RequestRecords({ requestId }: { requestId: string }) {
  const query = { request_id: requestId, limit: 100 };
  const { data, error } = useQuery(readAdmin<Page<AuditView>>('/audit', query));
  return (
    <Stack maw={860} gap="md">
      <PageHeader title="Records of a request" purpose={<span className="data">{requestId}</span>}>
        <AsCode
          request={{ method: 'GET', path: '/audit', query }}
          command={`audit list --request-id ${requestId}`}
        />
      </PageHeader>
      <ProblemAlert error={error} />
      {data?.items.length === 0 && <Text c="dimmed">No record has this request id.</Text>}
      {data?.items.map((record) => (
        <Fragment key={record.seq}>
          <CallDetails record={record} />
          <Divider />
        </Fragment>
      ))}
    </Stack>
  );
}
