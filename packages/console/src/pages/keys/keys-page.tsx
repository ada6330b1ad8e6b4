/** The list of client keys. */
import type { KeyView, Page } from '@erp-proxy/contract';
import { Anchor, Button, Group, Table, Text } from '@mantine/core';
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
import { StateBadge } from '../../parts/state-badge.tsx';
import { StateSelect } from '../../parts/state-select.tsx';
import { Time } from '../../parts/time.tsx';
import { describePolicy } from './describe-policy.ts';
import { KeysTabs } from './keys-tabs.tsx';
import { KEY_STATES, keysRoute } from './route.ts';

export function KeysPage() {
  const filters = keysRoute.useSearch();
  const navigate = useNavigate({ from: keysRoute.fullPath });
  const list = useQuery(readAdmin<Page<KeyView>>('/keys', filters));
  const isFiltered = filters.search !== undefined || filters.state !== undefined;

  return (
    <>
      <PageHeader title="Keys" purpose="The keys that callers send, each with its policy.">
        <AsCode
          request={{ method: 'GET', path: '/keys', query: filters }}
          command={`keys list${printOptions({ search: filters.search, state: filters.state })}`}
        />
        <ForRole needs="operator">
          <Button
            leftSection={<Icon name="plus" size={16} />}
            renderRoot={(props) => <Link to="/keys/new" {...props} />}
          >
            Create key
          </Button>
        </ForRole>
      </PageHeader>
      <KeysTabs value="keys" />
      <Group mb="sm" gap="sm">
        <SearchInput
          label="Search keys"
          value={filters.search}
          onChange={(search) => void navigate({ search: (old) => ({ ...old, search, cursor: undefined }) })}
        />
        <StateSelect
          states={KEY_STATES}
          value={filters.state}
          onChange={(state) => void navigate({ search: (old) => ({ ...old, state, cursor: undefined }) })}
        />
      </Group>
      <PagedList
        label="Keys"
        columns={['Name', 'State', 'Policy', 'Last used', 'Ends', 'Made by', 'Id']}
        list={list}
        empty={
          isFiltered
            ? 'No key matches. Clear the search or choose all states.'
            : 'There are no keys yet. Create one for each program that calls Odoo.'
        }
        cursor={filters.cursor}
        onTurn={(cursor) => void navigate({ search: (old) => ({ ...old, cursor }) })}
        renderRow={(key) => (
          <Table.Tr key={key.id}>
            <Table.Td miw={160} maw={320} style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                fw={500}
                renderRoot={(props) => <Link to={keyPath} params={{ id: key.id }} {...props} />}
              >
                {key.name}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <StateBadge state={key.state} />
            </Table.Td>
            <Table.Td miw={220} maw={420}>
              {key.policy === null ? (
                <StateBadge state="no policy" />
              ) : (
                <Text size="sm" lineClamp={2} title={describePolicy(key.policy)}>
                  {describePolicy(key.policy)}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Time at={key.last_used_at} />
            </Table.Td>
            <Table.Td>
              <Time at={key.expires_at} />
            </Table.Td>
            <Table.Td
              style={{ overflowWrap: 'anywhere' }}
              {...(key.created_by && { title: key.created_by.id })}
            >
              {key.created_by?.name ?? '–'}
            </Table.Td>
            <Table.Td className="data" style={{ whiteSpace: 'nowrap' }}>
              {key.id}
            </Table.Td>
          </Table.Tr>
        )}
      />
    </>
  );
}

const keyPath = '/keys/$id';
