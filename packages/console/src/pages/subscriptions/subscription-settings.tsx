/** The form that changes a subscription. */
import type { SubscriptionView } from '@erp-proxy/contract';
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { FormEvent } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { SaveProblem } from '../../parts/save-problem.tsx';
import { Section } from '../../parts/section.tsx';
import { useEdited } from '../../parts/use-edited.ts';
import { printSubscriptionCommand } from './print-subscription-command.ts';
import {
  beginsAnew,
  listSubscriptionChanges,
  readSubscription,
  type SubscriptionDraft,
  toSubscriptionDraft,
} from './subscription-draft.ts';
import { SubscriptionFields } from './subscription-fields.tsx';

export function SubscriptionSettings({ current, path }: { current: SubscriptionView; path: string }) {
  const edited = useEdited(current, toSubscriptionDraft);
  const { draft, before, change, isDirty, tag } = edited;
  const save = useAdminMutation<SubscriptionView>(['/subscriptions'], (saved) => edited.reset(saved));
  const { changes, mistake } = readChanges(before, draft);
  const request = (ifMatch: string): AdminRequest => ({
    method: 'PATCH',
    path,
    body: changes,
    ifMatch,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mistake === null) save.run(request(tag));
  };
  return (
    <form onSubmit={submit}>
      <LeaveGuard isDirty={isDirty} />
      <Stack gap="md" maw={860}>
        <Section
          title="Source and receiver"
          actions={
            <AsCode
              request={request(tag)}
              command={printSubscriptionCommand('update', current.name, changes)}
            />
          }
        >
          <SubscriptionFields draft={draft} onChange={change} error={save.error} isNew={false} />
        </Section>
        {beginsAnew(changes) && (
          <Alert color="orange" title="It begins anew">
            With this change it{' '}
            {draft.start === 'all'
              ? 'sends all records that match'
              : 'sends what changes after the next reading'}
            , and forgets where it stopped.
          </Alert>
        )}
        <SaveProblem save={save} edited={edited} request={request} />
        <ForRole needs="operator" purpose="Changing this">
          <Group gap="xs">
            <Button type="submit" disabled={!isDirty || mistake !== null} loading={save.isPending}>
              Save
            </Button>
            {isDirty && (
              <Button variant="subtle" onClick={() => edited.reset()}>
                Discard changes
              </Button>
            )}
            {mistake !== null && (
              <Text size="sm" c="dimmed">
                {mistake}
              </Text>
            )}
          </Group>
        </ForRole>
      </Stack>
    </form>
  );
}

function readChanges(before: SubscriptionDraft, draft: SubscriptionDraft) {
  const old = readSubscription(before);
  const next = readSubscription(draft);
  if ('mistake' in next) return { changes: {}, mistake: next.mistake };
  // Never the case: a stored subscription is always valid.
  if ('mistake' in old) return { changes: next.input, mistake: null };
  return { changes: listSubscriptionChanges(old.input, next.input), mistake: null };
}
