/** Lists subscriptions, which send changes of Odoo to webhooks. */
import type { Page, SubscriptionView } from '@erp-proxy/contract';
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
import { describeSource } from './describe-source.ts';
import { SUBSCRIPTION_STATES, subscriptionsRoute } from './route.ts';

const REFRESH_MS = 15_000;

export function SubscriptionsPage() {
  const filters = subscriptionsRoute.useSearch();
  const navigate = useNavigate({ from: subscriptionsRoute.fullPath });
  const list = useQuery({
    ...readAdmin<Page<SubscriptionView>>('/subscriptions', filters),
    refetchInterval: REFRESH_MS,
  });
  const isFiltered = filters.search !== undefined || filters.state !== undefined;
  return (
    <>
      <PageHeader title="Subscriptions" purpose="Changes of records in Odoo, sent to webhooks.">
        <AsCode
          request={{ method: 'GET', path: '/subscriptions', query: filters }}
          command={`subscriptions list${printOptions({ state: filters.state, search: filters.search })}`}
        />
        <ForRole needs="operator">
          <Button
            leftSection={<Icon name="plus" size={16} />}
            renderRoot={(props) => <Link to="/subscriptions/new" {...props} />}
          >
            Add subscription
          </Button>
        </ForRole>
      </PageHeader>
      <Group mb="sm" gap="sm">
        <SearchInput
          label="Search subscriptions"
          value={filters.search}
          onChange={(search) => void navigate({ search: (old) => ({ ...old, search, cursor: undefined }) })}
        />
        <StateSelect
          states={SUBSCRIPTION_STATES}
          value={filters.state}
          onChange={(state) => void navigate({ search: (old) => ({ ...old, state, cursor: undefined }) })}
        />
      </Group>
      <PagedList
        label="Subscriptions"
        columns={['Name', 'State', 'Reads', 'Receiver', 'Last read', 'Last taken', 'Failures', 'Made by']}
        list={list}
        empty={
          isFiltered
            ? 'No subscription matches. Clear the search or choose all states.'
            : 'There are no subscriptions yet. Add one to get changes of Odoo without asking for them.'
        }
        cursor={filters.cursor}
        onTurn={(cursor) => void navigate({ search: (old) => ({ ...old, cursor }) })}
        renderRow={(subscription) => <SubscriptionRow key={subscription.name} subscription={subscription} />}
      />
    </>
  );
}

function SubscriptionRow({ subscription }: { subscription: SubscriptionView }) {
  const { name, state, url, read_at, problem, receiver, created_by } = subscription;
  return (
    <Table.Tr>
      <Table.Td miw={130}>
        <Anchor
          fw={500}
          renderRoot={(props) => <Link to="/subscriptions/$name" params={{ name }} {...props} />}
        >
          {name}
        </Anchor>
      </Table.Td>
      <Table.Td>
        <StateBadge state={state === 'active' && problem !== null ? 'cannot read' : state} />
      </Table.Td>
      <Table.Td className="data" miw={160}>
        {describeSource(subscription)}
      </Table.Td>
      <Table.Td className="data" miw={200} maw={280}>
        {url}
      </Table.Td>
      <Table.Td>
        <Time at={read_at} />
      </Table.Td>
      <Table.Td>
        <Time at={receiver.delivered_at} />
      </Table.Td>
      <Table.Td>
        {receiver.failures === 0 ? (
          <Text span size="sm" c="dimmed">
            none
          </Text>
        ) : (
          `${receiver.failures} in a row`
        )}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }} {...(created_by && { title: created_by.id })}>
        {created_by?.name ?? '–'}
      </Table.Td>
    </Table.Tr>
  );
}
