/** Lists subjects of identity providers whose tokens are refused. */
import type { DeniedSubjectView, Page } from '@erp-proxy/contract';
import { Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { Time } from '../../parts/time.tsx';
import { KeysTabs } from './keys-tabs.tsx';
import { subjectsRoute } from './route.ts';

const RESOURCES = ['/denied-subjects'];

export function SubjectsPage() {
  const { cursor } = subjectsRoute.useSearch();
  const navigate = useNavigate({ from: subjectsRoute.fullPath });
  const list = useQuery(readAdmin<Page<DeniedSubjectView>>('/denied-subjects', { cursor }));
  return (
    <>
      <PageHeader
        title="Denied subjects"
        purpose="Users and programs of your identity providers whose tokens the proxy refuses."
      >
        <AsCode
          request={{ method: 'GET', path: '/denied-subjects', query: { cursor } }}
          command="subjects list"
        />
      </PageHeader>
      <KeysTabs value="subjects" />
      <ForRole needs="admin">
        <DenyForm />
      </ForRole>
      <PagedList
        label="Denied subjects"
        columns={['Subject', 'Denied', 'Action']}
        list={list}
        empty="No subject is denied. To refuse all tokens of one, enter it above."
        cursor={cursor}
        onTurn={(next) => void navigate({ search: { cursor: next } })}
        renderRow={({ id, denied_at }) => (
          <Table.Tr key={id}>
            <Table.Td className="data">{id}</Table.Td>
            <Table.Td>
              <Time at={denied_at} />
            </Table.Td>
            <Table.Td>
              <AllowButton id={id} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}

function DenyForm() {
  const [id, setId] = useState('');
  const deny = useAdminMutation<DeniedSubjectView>(RESOURCES, () => setId(''));
  const request = { method: 'POST', path: '/denied-subjects', body: { id } } as const;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    deny.run(request);
  };
  return (
    <form onSubmit={submit}>
      <LeaveGuard isDirty={id !== ''} />
      <Group align="flex-end" gap="xs" mb="md">
        <TextInput
          label="Subject"
          description="<issuer>/<subject>, as the log and the audit show it"
          placeholder="corp/3f6c"
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
          required
          spellCheck={false}
          w="min(360px, 100%)"
        />
        <Button type="submit" loading={deny.isPending}>
          Deny subject
        </Button>
        <AsCode request={request} command={`subjects deny ${quoteIfNeeded(id || 'corp/3f6c')}`} />
      </Group>
      <ProblemAlert error={deny.error} onDismiss={deny.reset} />
      <Text size="xs" c="dimmed" mb="md">
        All its tokens are refused within a second, also those that have not expired.
      </Text>
    </form>
  );
}

function AllowButton({ id }: { id: string }) {
  const allow = useAdminMutation(RESOURCES);
  return (
    <DialogButton
      size="xs"
      label="Allow subject"
      needs="admin"
      confirmColor="red.9"
      mutation={allow}
      request={{ method: 'DELETE', path: `/denied-subjects/${encodeURIComponent(id)}` }}
      command={`subjects allow ${quoteIfNeeded(id)}`}
    >
      Tokens of <span className="data">{id}</span> are accepted again.
    </DialogButton>
  );
}
