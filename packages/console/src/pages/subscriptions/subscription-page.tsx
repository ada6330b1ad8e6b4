/** One subscription: whether it works, its deliveries, its settings, and how to verify its deliveries. */
import type { SubscriptionView } from '@erp-proxy/contract';
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Deliveries } from './deliveries.tsx';
import { describeSource } from './describe-source.ts';
import { type SubscriptionTab, subscriptionRoute } from './route.ts';
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
  const { tab } = subscriptionRoute.useSearch();
  const navigate = useNavigate({ from: subscriptionRoute.fullPath });
  const deliveries = tab === 'deliveries' && <Deliveries path={path} name={current.name} />;
  return (
    <PageTabs<SubscriptionTab>
      shown={tab}
      onChange={(tab) => void navigate({ search: (old) => ({ ...old, tab }) })}
      tabs={{
        overview: { label: 'Overview', panel: <SubscriptionOverview current={current} /> },
        deliveries: { label: 'Deliveries', panel: deliveries },
        settings: { label: 'Settings', panel: <SubscriptionSettings current={current} path={path} /> },
        verify: { label: 'Verify signatures', panel: <VerifySignatures /> },
      }}
    />
  );
}
