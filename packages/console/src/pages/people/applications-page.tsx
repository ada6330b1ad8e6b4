/** Lists which applications may act as which persons, and withdraws what the persons have allowed. */
import type { ApplicationView, Page } from '@erp-proxy/contract';
import { Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { SearchInput } from '../../parts/search-input.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { Time } from '../../parts/time.tsx';
import { PeopleTabs } from './people-tabs.tsx';
import { PersonLink } from './person-link.tsx';
import { applicationsRoute } from './route.ts';

export function ApplicationsPage() {
  const filters = applicationsRoute.useSearch();
  const navigate = useNavigate({ from: applicationsRoute.fullPath });
  const list = useQuery(readAdmin<Page<ApplicationView>>('/applications', filters));
  return (
    <>
      <PageHeader
        title="Applications"
        purpose="What persons have allowed to act as them, by signing in here."
      >
        <AsCode request={{ method: 'GET', path: '/applications', query: filters }} command={null} />
      </PageHeader>
      <PeopleTabs value="applications" />
      <Group mb="sm">
        <SearchInput
          label="Id of a person"
          value={filters.person}
          onChange={(person) => void navigate({ search: (old) => ({ ...old, person, cursor: undefined }) })}
        />
      </Group>
      <PagedList
        label="Applications"
        columns={['Person', 'Application', 'May use', 'Agreed', 'Last token', 'Ends', 'Action']}
        list={list}
        empty={
          filters.person === undefined
            ? 'No person has allowed an application. Agents ask for it when they are given the address of the proxy.'
            : 'No application matches. Clear the filter: it takes the whole id.'
        }
        cursor={filters.cursor}
        onTurn={(cursor) => void navigate({ search: (old) => ({ ...old, cursor }) })}
        renderRow={(application) => (
          <Table.Tr key={application.id}>
            <Table.Td maw={320}>
              <PersonLink id={application.person} />
            </Table.Td>
            <Table.Td miw={180} maw={320} style={{ overflowWrap: 'anywhere' }}>
              {revealInvisible(application.name)}
              <Text size="xs" className="data">
                {revealInvisible(application.address)}
              </Text>
            </Table.Td>
            <Table.Td>{application.scopes.join(', ')}</Table.Td>
            <Table.Td>
              <Time at={application.created_at} />
            </Table.Td>
            <Table.Td>
              <Time at={application.used_at} />
            </Table.Td>
            <Table.Td>
              <Time at={application.expires_at} />
            </Table.Td>
            <Table.Td>
              <WithdrawButton application={application} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}

function WithdrawButton({ application: { id, name, person } }: { application: ApplicationView }) {
  const withdraw = useAdminMutation(['/applications']);
  return (
    <DialogButton
      size="xs"
      label="Withdraw…"
      title="Withdraw consent"
      confirmLabel="Withdraw consent"
      confirmColor="red.9"
      mutation={withdraw}
      request={{ method: 'DELETE', path: `/applications/${encodeURIComponent(id)}` }}
      command={null}
    >
      {revealInvisible(name)} may not act as <span className="data">{person}</span> any more: its tokens are
      refused within a second. The person can allow it again.
    </DialogButton>
  );
}
