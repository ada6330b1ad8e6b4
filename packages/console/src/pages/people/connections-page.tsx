/** Lists which persons have connected a user of their own in Odoo, without their keys. */
import type { ConnectionView, Page } from '@erp-proxy/contract';
import { Anchor, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { printOptions, quoteIfNeeded } from '../../parts/print-options.ts';
import { SearchInput } from '../../parts/search-input.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { PeopleTabs } from './people-tabs.tsx';
import { connectionsRoute } from './route.ts';

export function ConnectionsPage() {
  const filters = connectionsRoute.useSearch();
  const navigate = useNavigate({ from: connectionsRoute.fullPath });
  const list = useQuery(readAdmin<Page<ConnectionView>>('/connections', filters));
  const { instance, person } = filters;
  const isFiltered = instance !== undefined || person !== undefined;
  return (
    <>
      <PageHeader
        title="People"
        purpose="Persons whose calls run as their own user in Odoo, on instances for persons."
      >
        <AsCode
          request={{ method: 'GET', path: '/connections', query: filters }}
          command={`connections list${printOptions({ instance, person })}`}
        />
      </PageHeader>
      <PeopleTabs value="connections" />
      <Group mb="sm" gap="sm">
        <SearchInput
          label="Name of an instance"
          value={instance}
          onChange={(given) =>
            void navigate({ search: (old) => ({ ...old, instance: given, cursor: undefined }) })
          }
        />
        <SearchInput
          label="Id of a person"
          value={person}
          onChange={(given) =>
            void navigate({ search: (old) => ({ ...old, person: given, cursor: undefined }) })
          }
        />
      </Group>
      <PagedList
        label="Connections"
        columns={['Person', 'Instance', 'State', 'Login in Odoo', 'Key ends', 'Connected', 'Action']}
        list={list}
        empty={
          isFiltered
            ? 'No connection matches. Clear the filters: both take the whole name.'
            : 'Nobody has connected. Set up an instance with the identity “person”; whoever calls it is then told where to connect.'
        }
        cursor={filters.cursor}
        onTurn={(cursor) => void navigate({ search: (old) => ({ ...old, cursor }) })}
        renderRow={(connection) => (
          <Table.Tr key={`${connection.instance} ${connection.person}`}>
            <Table.Td className="data" maw={320} style={{ overflowWrap: 'anywhere' }}>
              {connection.person}
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                className="data"
                renderRoot={(props) => (
                  <Link to="/instances/$name" params={{ name: connection.instance }} {...props} />
                )}
              >
                {connection.instance}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <StateBadge state={connection.state} />
            </Table.Td>
            <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
              {revealInvisible(connection.login)}
            </Table.Td>
            <Table.Td miw={160}>
              <KeyEnd connection={connection} />
            </Table.Td>
            <Table.Td>
              <Time at={connection.created_at} />
            </Table.Td>
            <Table.Td>
              <RemoveButton connection={connection} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}

function KeyEnd({
  connection: { key_expires_at, key_renewed, key_failure },
}: {
  connection: ConnectionView;
}) {
  if (key_expires_at === null) return <Text size="sm">not known, or never</Text>;
  return (
    <>
      <Time at={key_expires_at} />
      {key_failure !== null ? (
        <Text size="xs" c="red" style={{ overflowWrap: 'anywhere' }}>
          Not replaced: {revealInvisible(key_failure)}
        </Text>
      ) : (
        key_renewed && (
          <Text size="xs" c="dimmed">
            replaced by the proxy
          </Text>
        )
      )}
    </>
  );
}

function RemoveButton({ connection: { instance, person, login } }: { connection: ConnectionView }) {
  const remove = useAdminMutation(['/connections']);
  return (
    <DialogButton
      size="xs"
      label="Remove…"
      title="Remove connection"
      confirmLabel="Remove connection"
      confirmColor="red.9"
      mutation={remove}
      request={{
        method: 'DELETE',
        path: `/connections/${encodeURIComponent(instance)}/${encodeURIComponent(person)}`,
      }}
      command={`connections remove ${quoteIfNeeded(instance)} ${quoteIfNeeded(person)}`}
    >
      Calls of <span className="data">{person}</span> on <span className="data">{instance}</span> are refused
      until the person connects again. The key of {revealInvisible(login)} in Odoo stays: it is removed there.
    </DialogButton>
  );
}
