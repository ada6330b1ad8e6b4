/** The form that changes a stored instance. If a new key is given, the server is checked before anything is saved. */
import type { InstanceView } from '@erp-proxy/contract';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { FormEvent } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ExaminationSteps } from '../../parts/examination-steps.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { printInstanceCommand } from '../../parts/print-instance-command.ts';
import { SaveProblem } from '../../parts/save-problem.tsx';
import { Section } from '../../parts/section.tsx';
import { useEdited } from '../../parts/use-edited.ts';
import { useExamination } from '../../parts/use-examination.ts';
import { listRiskyChanges, toCheckInput, toInstanceChanges, toInstanceDraft } from './instance-draft.ts';
import { InstanceFields, InstanceProblem } from './instance-fields.tsx';

export function InstanceSettings({ current, path }: { current: InstanceView; path: string }) {
  const edited = useEdited(current, toInstanceDraft);
  const { draft, before, change, isDirty, tag } = edited;
  const examination = useExamination();
  const changes = toInstanceChanges(before, draft);
  const hasKey = draft.api_key !== '';
  const save = useAdminMutation<InstanceView>(['/instances'], (saved) => {
    edited.reset(saved);
    // Without a typed key, only the saved instance can be checked.
    if (!hasKey) void examination.run({ method: 'POST', path: `${path}/check` });
  });
  const request = (ifMatch: string): AdminRequest => ({
    method: 'PATCH',
    path,
    body: changes,
    ifMatch,
  });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    save.reset();
    if (hasKey) {
      const found = await examination.run({
        method: 'POST',
        path: '/instances/check',
        body: toCheckInput(draft),
      });
      if (found?.ok !== true) return;
    } else examination.reset();
    save.run(request(tag));
  };
  const hasFailed = isDirty && (examination.examination?.ok === false || examination.error !== null);

  return (
    <form onSubmit={(event) => void submit(event)}>
      <LeaveGuard isDirty={isDirty} />
      <Stack gap="md" maw={860}>
        <Section
          title="Server and user"
          actions={
            <AsCode request={request(tag)} command={printInstanceCommand('update', current.name, changes)} />
          }
        >
          <InstanceFields
            draft={draft}
            onChange={change}
            error={save.error ?? examination.error}
            isNew={false}
            riskyChanges={listRiskyChanges(before, draft)}
          />
        </Section>
        <ExaminationSteps run={examination} onDismiss={examination.reset} />
        <SaveProblem save={save} edited={edited} request={request}>
          <InstanceProblem error={save.error} onDismiss={save.reset} />
        </SaveProblem>
        <ForRole needs="operator" purpose="Changing this">
          <Group gap="xs">
            <Button type="submit" disabled={!isDirty} loading={examination.isRunning || save.isPending}>
              {hasKey ? 'Check and save' : 'Save and check'}
            </Button>
            {hasFailed && (
              <Button variant="default" loading={save.isPending} onClick={() => save.run(request(tag))}>
                Save without a working check
              </Button>
            )}
            {isDirty && (
              <Button variant="subtle" onClick={() => edited.reset()}>
                Discard changes
              </Button>
            )}
            {isDirty && (
              <Text size="sm" c="dimmed">
                A change takes effect within a second, on every replica.
              </Text>
            )}
          </Group>
        </ForRole>
      </Stack>
    </form>
  );
}
