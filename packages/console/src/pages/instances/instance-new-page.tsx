/** A page that stores an Odoo server after checking it step by step. */
import type { InstanceView } from '@erp-proxy/contract';
import { Button, Group, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ExaminationSteps } from '../../parts/examination-steps.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printInstanceCommand } from '../../parts/print-instance-command.ts';
import { Section } from '../../parts/section.tsx';
import { useExamination } from '../../parts/use-examination.ts';
import { EMPTY_INSTANCE, toCheckInput, toInstanceInput } from './instance-draft.ts';
import { InstanceFields, InstanceProblem } from './instance-fields.tsx';

export function NewInstancePage() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY_INSTANCE);
  const [isStored, setStored] = useState(false);
  const examination = useExamination();
  const create = useAdminMutation<InstanceView>(['/instances'], () => setStored(true));
  const input = toInstanceInput(draft);
  const request: AdminRequest = { method: 'POST', path: '/instances', body: input };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    create.reset();
    // Without a user, there is little to check.
    if (draft.identity === 'person') return create.run(request);
    const found = await examination.run({
      method: 'POST',
      path: '/instances/check',
      body: toCheckInput(draft),
    });
    if (found?.ok === true) create.run(request);
  };
  const open = () => void navigate({ to: '/instances/$name', params: { name: draft.name }, replace: true });
  const hasFailed = examination.examination?.ok === false || examination.error !== null;

  return (
    <>
      <PageHeader title="Add instance" purpose="An Odoo server, a database and a user, under a name.">
        <AsCode request={request} command={printInstanceCommand('add', draft.name, input)} />
      </PageHeader>
      <LeaveGuard isDirty={!isStored && draft !== EMPTY_INSTANCE} />
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="md" maw={860}>
          <Section title="Server and user">
            <InstanceFields
              draft={draft}
              onChange={(members) => {
                setDraft({ ...draft, ...members });
                // The results of the checks do not apply to the changed server.
                if (!examination.isRunning) examination.reset();
              }}
              error={create.error ?? examination.error}
              isNew
              riskyChanges={[]}
            />
          </Section>
          <ExaminationSteps run={examination} onDismiss={examination.reset} />
          <InstanceProblem error={create.error} onDismiss={create.reset} />
          {isStored ? (
            <Group>
              <Button onClick={open}>Show the instance</Button>
            </Group>
          ) : (
            <Group gap="xs">
              <Button type="submit" loading={examination.isRunning || create.isPending}>
                {draft.identity === 'person' ? 'Add' : 'Check and add'}
              </Button>
              {examination.isRunning && (
                <Button variant="default" onClick={examination.reset}>
                  Cancel
                </Button>
              )}
              {hasFailed && !examination.isRunning && (
                <Button variant="default" loading={create.isPending} onClick={() => create.run(request)}>
                  Add without a working check
                </Button>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </>
  );
}
