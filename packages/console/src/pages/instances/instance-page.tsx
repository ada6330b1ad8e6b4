/** The page of one stored Odoo server. */
import { type InstanceView, printVersionTag, tagVersion } from '@erp-proxy/contract';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CallsLink } from '../../parts/calls-link.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { InstanceOverview } from './instance-overview.tsx';
import { InstanceSettings } from './instance-settings.tsx';
import { InstanceUsers } from './instance-users.tsx';
import { type InstanceTab, instanceRoute } from './route.ts';

export function InstancePage() {
  const { name } = instanceRoute.useParams();
  const path = `/instances/${encodeURIComponent(name)}`;
  const { data, error } = useQuery(readAdmin<InstanceView>(path));
  // While another instance loads, `data` is still the previous one.
  const instance = data?.name === name ? data : undefined;
  return (
    <>
      <PageHeader
        title={name}
        purpose={instance === undefined ? undefined : <span className="data">{instance.url}</span>}
      >
        <AsCode request={{ method: 'GET', path }} command={`instances show ${quoteIfNeeded(name)}`} />
        {instance !== undefined && <Actions key={name} current={instance} path={path} />}
      </PageHeader>
      <ProblemAlert error={error} />
      {instance !== undefined && <Parts key={name} current={instance} path={path} />}
    </>
  );
}

interface CurrentProps {
  current: InstanceView;
  path: string;
}

function Parts({ current, path }: CurrentProps) {
  const { tab } = instanceRoute.useSearch();
  const navigate = useNavigate({ from: instanceRoute.fullPath });
  return (
    <PageTabs<InstanceTab>
      shown={tab}
      onChange={(tab) => void navigate({ search: { tab } })}
      tabs={{
        overview: { label: 'Overview', panel: <InstanceOverview current={current} path={path} /> },
        settings: { label: 'Settings', panel: <InstanceSettings current={current} path={path} /> },
      }}
    />
  );
}

function Actions({ current, path }: CurrentProps) {
  const navigate = useNavigate();
  const rotate = useAdminMutation<InstanceView>(['/instances']);
  const remove = useAdminMutation(['/instances'], () => void navigate({ to: '/instances' }));
  return (
    <>
      <Button
        variant="default"
        renderRoot={(props) => <CallsLink {...props} filters={{ instance: current.name }} />}
      >
        Show calls
      </Button>
      {current.identity === 'shared' && (
        <DialogButton
          label="Rotate Odoo key"
          confirmColor="red.9"
          mutation={rotate}
          request={{ method: 'POST', path: `${path}/rotate-key` }}
          command={`instances rotate-key ${quoteIfNeeded(current.name)}`}
        >
          Odoo creates a new key for the user, and the proxy stores it in place of the old one. Odoo 19 and
          later can do this; the proxy says so if the server cannot.
        </DialogButton>
      )}
      <DialogButton
        label="Remove instance"
        color="red"
        variant="light"
        confirmColor="red.9"
        mutation={remove}
        request={{ method: 'DELETE', path, ifMatch: printVersionTag(tagVersion(current)) }}
        command={`instances remove ${quoteIfNeeded(current.name)}`}
      >
        Later calls on <strong>{current.name}</strong> are refused, and subscriptions read no more changes
        from it. Its Odoo key, or the connections of persons to it, are deleted. This cannot be undone.
        <InstanceUsers name={current.name} />
      </DialogButton>
    </>
  );
}
