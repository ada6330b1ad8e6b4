/** Lists who has signed in by the identity provider, with what the rules give them, and ends their sessions. */
import type { Page, PersonView } from '@erp-proxy/contract';
import { Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { revealInvisible } from '../../parts/show-json.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { PeopleTabs } from './people-tabs.tsx';
import { PersonLink } from './person-link.tsx';
import { personsRoute } from './route.ts';

const RESOURCES = ['/persons', '/denied-subjects'];

export function PersonsPage() {
  const { cursor } = personsRoute.useSearch();
  const navigate = useNavigate({ from: personsRoute.fullPath });
  const list = useQuery(readAdmin<Page<PersonView>>('/persons', { cursor }));
  return (
    <>
      <PageHeader
        title="Roles and sessions"
        purpose="Who has signed in by the identity provider, and what the rules of operators give them."
      >
        <AsCode request={{ method: 'GET', path: '/persons', query: { cursor } }} command="persons list" />
      </PageHeader>
      <PeopleTabs value="sign-ins" />
      <PagedList
        label="Persons"
        columns={['Person', 'State', 'Role', 'Instances', 'Confirmed', 'Action']}
        list={list}
        empty="Nobody has signed in by an identity provider yet."
        cursor={cursor}
        onTurn={(next) => void navigate({ search: { cursor: next } })}
        renderRow={(person) => (
          <Table.Tr key={person.id}>
            <Table.Td miw={180} maw={320} style={{ overflowWrap: 'anywhere' }}>
              {revealInvisible(person.name)}
              <Text size="xs">
                <PersonLink id={person.id} />
              </Text>
            </Table.Td>
            <Table.Td>
              <StateBadge state={person.state} />
            </Table.Td>
            <Table.Td>{person.role ?? 'none'}</Table.Td>
            <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
              {person.role === null ? '–' : (person.instances?.join(', ') ?? 'all')}
            </Table.Td>
            <Table.Td>
              <Time at={person.confirmed_at} />
            </Table.Td>
            <Table.Td>
              <Group gap="xs" wrap="nowrap">
                <SignOutButton person={person} />
                {person.state !== 'denied' && <DenyButton person={person} />}
              </Group>
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}

function SignOutButton({ person: { id, name } }: { person: PersonView }) {
  const signOut = useAdminMutation(RESOURCES);
  return (
    <DialogButton
      size="xs"
      label="End sessions…"
      title="End sessions"
      confirmLabel="End sessions"
      confirmColor="red.9"
      needs="admin"
      mutation={signOut}
      request={{ method: 'POST', path: `/persons/${encodeURIComponent(id)}/sign-out` }}
      command={`persons sign-out ${quoteIfNeeded(id)}`}
    >
      All sessions of {revealInvisible(name)} end at once, in browsers and on command lines. They may sign in
      again. Personal tokens, client keys and what applications may do stay.
    </DialogButton>
  );
}

function DenyButton({ person: { id, name } }: { person: PersonView }) {
  const deny = useAdminMutation(RESOURCES);
  return (
    <DialogButton
      size="xs"
      label="Deny…"
      title="Deny person"
      confirmLabel="Deny person"
      confirmColor="red.9"
      needs="admin"
      mutation={deny}
      request={{ method: 'POST', path: '/denied-subjects', body: { id } }}
      command={`subjects deny ${quoteIfNeeded(id)}`}
    >
      {revealInvisible(name)} cannot sign in, and all sessions, tokens and keys of this person are refused
      within a second. Allow the person again on the page of denied subjects.
    </DialogButton>
  );
}
