import type { InstanceView } from '@erp-proxy/contract';
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ExaminationSteps } from '../../parts/examination-steps.tsx';
import { printDoctorCommand, printInstanceCommand } from '../../parts/print-instance-command.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { useExamination } from '../../parts/use-examination.ts';
import { describeCheck, describeInstance, type ServerDraft } from './server-draft.ts';

interface TestStepProps {
  draft: ServerDraft;
  onBack: () => void;
  /** Called when the server is stored under this name. */
  onSaved: (name: string) => void;
}

/** Tests the server at once, and stores it if the person confirms. */
export function TestStep({ draft, onBack, onSaved }: TestStepProps) {
  const run = useExamination();
  const save = useAdminMutation<InstanceView>(['/instances'], ({ name }) => onSaved(name));
  const { isRunning, examination } = run;

  const instance = describeInstance(draft);
  const saving: AdminRequest = { method: 'POST', path: '/instances', body: instance };
  const test = () => void run.run(describeCheck(draft));
  const testFirst = useRef(test);
  useEffect(() => testFirst.current(), []);

  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <Text fw={600}>
            Test of <span className="data">{draft.url}</span>
          </Text>
          <AsCode request={describeCheck(draft)} command={printDoctorCommand(instance)} />
        </Group>
        <ExaminationSteps run={run} onDismiss={run.reset} />
        {examination?.ok === true && examination.user !== null && (
          <Alert color="teal" p="sm">
            Calls run as {examination.user.name} ({examination.user.login}).
          </Alert>
        )}
        {examination?.ok === false && (
          <Alert color="orange" p="sm">
            Do what the last check says, and test again.
          </Alert>
        )}
        <ProblemAlert error={save.error} onDismiss={save.reset} />
        <Group gap="xs">
          {examination?.ok === true && (
            <Button loading={save.isPending} onClick={() => save.run(saving)}>
              Save the server
            </Button>
          )}
          {!isRunning && examination?.ok !== true && <Button onClick={test}>Test again</Button>}
          <Button variant="default" onClick={onBack}>
            Change the values
          </Button>
          {examination?.ok === true && (
            <AsCode request={saving} command={printInstanceCommand('add', instance.name, instance)} />
          )}
        </Group>
      </Stack>
    </Paper>
  );
}
