/** A page that adds a subscription. Its secret is shown once. */
import type { NewSubscriptionView } from '@erp-proxy/contract';
import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Section } from '../../parts/section.tsx';
import { printSubscriptionCommand } from './print-subscription-command.ts';
import { EMPTY_SUBSCRIPTION, readSubscription } from './subscription-draft.ts';
import { SubscriptionFields } from './subscription-fields.tsx';

export function NewSubscriptionPage() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY_SUBSCRIPTION);
  const [created, setCreated] = useState<NewSubscriptionView | null>(null);
  const create = useAdminMutation<NewSubscriptionView>(['/subscriptions'], setCreated);
  const read = readSubscription(draft);
  const input = 'input' in read ? read.input : null;
  const request: AdminRequest = { method: 'POST', path: '/subscriptions', body: input ?? {} };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (input !== null) create.run(request);
  };
  return (
    <>
      <PageHeader
        title="Add subscription"
        purpose="The proxy reads the changes of a model, and sends them to your receiver, signed."
      >
        <AsCode request={request} command={printSubscriptionCommand('add', draft.name, input ?? {})} />
      </PageHeader>
      <LeaveGuard isDirty={created === null && draft !== EMPTY_SUBSCRIPTION} />
      <form onSubmit={submit}>
        <Stack gap="md" maw={860}>
          <Section title="Source and receiver">
            <SubscriptionFields
              draft={draft}
              onChange={(members) => setDraft({ ...draft, ...members })}
              error={create.error}
              isNew
            />
          </Section>
          <ProblemAlert error={create.error} onDismiss={create.reset} />
          <Group gap="xs">
            <Button type="submit" loading={create.isPending} disabled={input === null}>
              Add subscription
            </Button>
            {'mistake' in read && (
              <Text size="sm" c="dimmed">
                {read.mistake}
              </Text>
            )}
          </Group>
        </Stack>
      </form>
      <SecretOnce
        title={`The secret of ${created?.name ?? ''}: it verifies signatures`}
        secret={created?.secret ?? null}
        onClose={() => {
          if (created === null) return;
          void navigate({ to: '/subscriptions/$name', params: { name: created.name }, replace: true });
        }}
      />
    </>
  );
}
