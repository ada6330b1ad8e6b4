/** The form that changes the policy of a stored key. */
import type { KeyView } from '@erp-proxy/contract';
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { printKeyCommand } from '../../parts/print-key-command.ts';
import { SaveProblem } from '../../parts/save-problem.tsx';
import { useEdited } from '../../parts/use-edited.ts';
import { createDraft, readDraft } from './policy-draft.ts';
import { PolicyEditor } from './policy-editor.tsx';

export function PolicySection({ current, path }: { current: KeyView; path: string }) {
  const edited = useEdited(current, toDraft);
  const { draft, change, isDirty, tag } = edited;
  const save = useAdminMutation<KeyView>(['/keys'], (saved) => edited.reset(saved));
  const differences = edited.differences.map((difference) => ({
    ...difference,
    member: MEMBERS[difference.member] ?? difference.member,
  }));
  const read = readDraft(draft);
  const body = { policy: 'policy' in read ? read.policy : null };
  const request = (ifMatch: string): AdminRequest => ({ method: 'PATCH', path, body, ifMatch });
  return (
    <Stack gap="md">
      <LeaveGuard isDirty={isDirty} />
      {current.policy !== null && 'unreadable' in current.policy && (
        <Alert color="red" title="The stored policy cannot be read">
          {current.policy.unreadable} The key makes no call until a new policy is saved.
        </Alert>
      )}
      {current.state === 'revoked' && (
        <Alert color="gray">The key is revoked: its policy has no effect any more.</Alert>
      )}
      <PolicyEditor draft={draft} onChange={change} error={save.error} clientId={current.client_id} />
      <SaveProblem save={save} edited={{ ...edited, differences }} request={request} />
      <ForRole needs="operator" purpose="Changing this">
        <Group gap="xs" justify="flex-end">
          {isDirty && (
            <>
              <Text size="sm" c="dimmed">
                Not saved yet
              </Text>
              <Button variant="subtle" onClick={() => edited.reset()}>
                Discard changes
              </Button>
            </>
          )}
          <AsCode
            request={request(tag)}
            command={printKeyCommand(`keys update ${current.id}`, body, Date.now())}
          />
          <Button
            disabled={!isDirty || 'mistake' in read}
            loading={save.isPending}
            onClick={() => save.run(request(tag))}
          >
            Save policy
          </Button>
        </Group>
      </ForRole>
    </Stack>
  );
}

/** The names that the page gives to the members of a draft. */
const MEMBERS: Record<string, string> = { text: 'policy', isRestricted: 'has a policy' };

function toDraft({ policy }: KeyView) {
  return createDraft(policy);
}
