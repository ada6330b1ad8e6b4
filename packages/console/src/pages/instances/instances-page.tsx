/** The list of stored Odoo servers. */
import type { InstanceView, Page } from '@erp-proxy/contract';
import { Anchor, Button, Group, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { printOptions } from '../../parts/print-options.ts';
import { SearchInput } from '../../parts/search-input.tsx';
import { Time } from '../../parts/time.tsx';
import { OdooKeyState } from './odoo-key-state.tsx';
import { instancesRoute } from './route.ts';

export function InstancesPage() {
  const filters = instancesRoute.useSearch();
  const navigate = useNavigate({ from: instancesRoute.fullPath });
  const list = useQuery(readAdmin<Page<InstanceView>>('/instances', filters));
  return (
    <>
      <PageHeader title="Instances" purpose="Odoo servers with a user, stored under a name that calls use.">
        <AsCode
          request={{ method: 'GET', path: '/instances', query: filters }}
          command={`instances list${printOptions({ search: filters.search })}`}
        />
        <ForRole needs="operator">
          <Button
            leftSection={<Icon name="plus" size={16} />}
            renderRoot={(props) => <Link to="/instances/new" {...props} />}
          >
            Add instance
          </Button>
        </ForRole>
      </PageHeader>
      <Group mb="sm">
        <SearchInput
          label="Search instances"
          value={filters.search}
          onChange={(search) => void navigate({ search: { search } })}
        />
      </Group>
      <PagedList
        label="Instances"
        columns={['Name', 'Address', 'Database', 'User', 'Odoo key', 'Changed']}
        list={list}
        empty={
          filters.search === undefined
            ? 'There are no instances yet. Add your Odoo server, so that callers need no Odoo key.'
            : 'No instance matches. Clear the search.'
        }
        cursor={filters.cursor}
        onTurn={(cursor) => void navigate({ search: (old) => ({ ...old, cursor }) })}
        renderRow={(instance) => (
          <Table.Tr key={instance.name}>
            <Table.Td miw={130}>
              <Anchor
                fw={500}
                renderRoot={(props) => (
                  <Link to="/instances/$name" params={{ name: instance.name }} {...props} />
                )}
              >
                {instance.name}
              </Anchor>
            </Table.Td>
            <Table.Td className="data" miw={220}>
              {instance.url}
            </Table.Td>
            <Table.Td className="data" miw={120}>
              {instance.db}
            </Table.Td>
            <Table.Td>{instance.user_id ?? 'each person'}</Table.Td>
            <Table.Td>
              <OdooKeyState odooKey={instance.key} />
            </Table.Td>
            <Table.Td>
              <Time at={instance.updated_at} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}
