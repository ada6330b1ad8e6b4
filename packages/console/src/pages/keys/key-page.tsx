/** The page of one client key: its rights, its use, and its end. */
import { type KeyView, type NewKeyView, printVersionTag, tagVersion } from '@erp-proxy/contract';
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CallsLink } from '../../parts/calls-link.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { OverlapButton } from '../../parts/overlap-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { KeyOverview } from './key-overview.tsx';
import { PolicySection } from './policy-section.tsx';
import { type KeyTab, keyRoute } from './route.ts';

const RESOURCES = ['/keys'];

export function KeyPage() {
  const { id } = keyRoute.useParams();
  const path = `/keys/${encodeURIComponent(id)}`;
  const { data, error } = useQuery(readAdmin<KeyView>(path));
  // While another key loads, `data` is still the previous one.
  const key = data?.id === id ? data : undefined;
  return (
    <>
      <PageHeader
        title={key?.name ?? 'Key'}
        purpose={
          <Group gap="xs" component="span">
            <span className="data">{id}</span>
            {key !== undefined && <StateBadge state={key.state} />}
          </Group>
        }
      >
        <AsCode request={{ method: 'GET', path }} command={`keys show ${id}`} />
        {key !== undefined && <Actions key={id} current={key} path={path} />}
      </PageHeader>
      <ProblemAlert error={error} />
      {key !== undefined && <Parts key={id} current={key} path={path} />}
    </>
  );
}

function Parts({ current, path }: { current: KeyView; path: string }) {
  const { tab } = keyRoute.useSearch();
  const navigate = useNavigate({ from: keyRoute.fullPath });
  return (
    <PageTabs<KeyTab>
      shown={tab}
      onChange={(tab) => void navigate({ search: { tab } })}
      tabs={{
        overview: { label: 'Overview', panel: <KeyOverview current={current} path={path} /> },
        policy: { label: 'Policy', panel: <PolicySection current={current} path={path} /> },
      }}
    />
  );
}

function Actions({ current, path }: { current: KeyView; path: string }) {
  const navigate = useNavigate();
  const [successor, setSuccessor] = useState<NewKeyView | null>(null);
  const rotate = useAdminMutation<NewKeyView>(RESOURCES, setSuccessor);
  const revoke = useAdminMutation<KeyView>(RESOURCES);
  return (
    <>
      <Button
        variant="default"
        renderRoot={(props) => <CallsLink {...props} filters={{ client_id: current.client_id }} />}
      >
        Show calls
      </Button>
      {current.state === 'active' && (
        <OverlapButton
          label="Rotate key"
          consequence="A new key with the same name, policy and end is created, and shown once. The limits of the policy go on counting."
          describe={(overlap_seconds) => ({
            request: {
              method: 'POST',
              path: `${path}/rotate`,
              body: { overlap_seconds },
              ifMatch: printVersionTag(tagVersion(current)),
            },
            command: `keys rotate ${current.id} --overlap ${overlap_seconds / 60}m`,
          })}
          mutation={rotate}
        />
      )}
      {current.state !== 'revoked' && (
        <DialogButton
          label="Revoke key"
          color="red"
          variant="light"
          confirmColor="red.9"
          mutation={revoke}
          request={{ method: 'POST', path: `${path}/revoke` }}
          command={`keys revoke ${current.id}`}
        >
          Every call with <strong>{current.name}</strong> (<span className="data">{current.id}</span>) is
          refused within a second, on every replica. This cannot be undone.
        </DialogButton>
      )}
      <SecretOnce
        title={`The new key of ${current.name}`}
        secret={successor?.key ?? null}
        onClose={() => {
          const id = successor?.id;
          setSuccessor(null);
          if (id !== undefined) void navigate({ to: '/keys/$id', params: { id } });
        }}
      />
    </>
  );
}
