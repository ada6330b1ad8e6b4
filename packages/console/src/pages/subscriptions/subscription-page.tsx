/** One subscription: whether it works, its deliveries, its settings, and how to verify its deliveries. */
import type { SubscriptionView } from '@erp-proxy/contract';
import { Group, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Deliveries } from './deliveries.tsx';
import { describeSource } from './describe-source.ts';
import { SUBSCRIPTION_TABS, subscriptionRoute } from './route.ts';
import { SubscriptionActions } from './subscription-actions.tsx';
import { SubscriptionOverview } from './subscription-overview.tsx';
import { SubscriptionSettings } from './subscription-settings.tsx';
import { VerifySignatures } from './verify-signatures.tsx';

const REFRESH_MS = 10_000;

export function SubscriptionPage() {
  const { name } = subscriptionRoute.useParams();
  const path = `/subscriptions/${encodeURIComponent(name)}`;
  const { data, error } = useQuery({ ...readAdmin<SubscriptionView>(path), refetchInterval: REFRESH_MS });
  // While another subscription loads, `data` is still the previous one.
  const subscription = data?.name === name ? data : undefined;
  return (
    <>
      <PageHeader
        title={name}
        purpose={
          subscription !== undefined && (
            <Group gap="xs" component="span">
              <StateBadge state={subscription.state} />
              <span className="data">{describeSource(subscription)}</span>
            </Group>
          )
        }
      >
        <AsCode request={{ method: 'GET', path }} command={`subscriptions show ${quoteIfNeeded(name)}`} />
        {subscription !== undefined && <SubscriptionActions key={name} current={subscription} path={path} />}
      </PageHeader>
      <ProblemAlert error={error} />
      {subscription !== undefined && <Parts key={name} current={subscription} path={path} />}
    </>
  );
}

function Parts({ current, path }: { current: SubscriptionView; path: string }) {
  const { tab = 'overview' } = subscriptionRoute.useSearch();
  const navigate = useNavigate({ from: subscriptionRoute.fullPath });
  return (
    <Tabs
      value={tab}
      // Forms in hidden panels stay mounted: they keep their input, and ask before the page is left.
      keepMountedMode="display-none"
      onChange={(value) =>
        void navigate({
          search: (old) => ({
            ...old,
            tab: SUBSCRIPTION_TABS.find((name) => name === value && name !== 'overview'),
          }),
        })
      }
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
        <Tabs.Tab value="settings">Settings</Tabs.Tab>
        <Tabs.Tab value="verify">Verify signatures</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview">
        <SubscriptionOverview current={current} />
      </Tabs.Panel>
      <Tabs.Panel value="deliveries">
        {tab === 'deliveries' && <Deliveries path={path} name={current.name} />}
      </Tabs.Panel>
      <Tabs.Panel value="settings">
        <SubscriptionSettings current={current} path={path} />
      </Tabs.Panel>
      <Tabs.Panel value="verify">
        <VerifySignatures />
      </Tabs.Panel>
    </Tabs>
  );
}
