import type { InstanceView } from '@erp-proxy/contract';
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useAct } from '../../api/use-act.ts';
import { ExaminationSteps } from '../../parts/examination-steps.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { useExamination } from '../../parts/use-examination.ts';
import { describeInstance, type ServerDraft } from './server-draft.ts';

interface TestStepProps {
  draft: ServerDraft;
  onBack: () => void;
  /** The server is stored under this name. */
  onSaved: (name: string) => void;
}

/** Tests the server at once, and stores it if the person wants to. */
export function TestStep({ draft, onBack, onSaved }: TestStepProps) {
  const run = useExamination();
  const save = useAct<InstanceView>(['/instances'], ({ name }) => onSaved(name));
  const { isRunning, examination } = run;

  const test = () => {
    const { name: _, ...body } = describeInstance(draft);
    void run.run({ method: 'POST', path: '/instances/check', body });
  };
  const testFirst = useRef(test);
  useEffect(() => testFirst.current(), []);

  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <Text fw={600}>
          Test of <span className="data">{draft.url}</span>
        </Text>
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
            <Button
              loading={save.isPending}
              onClick={() => save.run({ method: 'POST', path: '/instances', body: describeInstance(draft) })}
            >
              Save the server
            </Button>
          )}
          {!isRunning && examination?.ok !== true && <Button onClick={test}>Test again</Button>}
          <Button variant="default" onClick={onBack}>
            Change the values
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
