import type { Examination, ExaminationCheck, InstanceView } from '@erp-proxy/contract';
import { Alert, Button, Group, Loader, Paper, Stack, Text, ThemeIcon } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAct } from '../../api/use-act.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { examine } from './examine.ts';
import { describeInstance, type ServerDraft } from './server-draft.ts';

interface TestStepProps {
  draft: ServerDraft;
  onBack: () => void;
  /** The server is stored under this name. */
  onSaved: (name: string) => void;
}

/** Tests the server at once, and stores it if the person wants to. */
export function TestStep({ draft, onBack, onSaved }: TestStepProps) {
  const { checks, examination, error, isRunning, restart } = useExamination(draft);
  const save = useAct<InstanceView>(['/instances'], ({ name }) => onSaved(name));
  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <Text fw={600}>
          Testing <span className="data">{draft.url}</span>
        </Text>
        <Stack gap="xs" component="ul" p={0} m={0} aria-label="Checks" aria-live="polite">
          {checks.map((check) => (
            <Check key={check.name} {...check} />
          ))}
          {isRunning && <Loader size="xs" aria-label="The test is running" />}
        </Stack>
        <ProblemAlert error={error} />
        {examination !== null && (
          <Alert color={examination.ok ? 'teal' : 'orange'} p="sm">
            {examination.ok
              ? describeSuccess(examination)
              : 'The proxy cannot work with this server yet. Do what the last check says, and test again.'}
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
          {!isRunning && examination?.ok !== true && <Button onClick={restart}>Test again</Button>}
          <Button variant="default" onClick={onBack}>
            Change the values
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

function useExamination(draft: ServerDraft) {
  const [attempt, setAttempt] = useState(0);
  const [checks, setChecks] = useState<ExaminationCheck[]>([]);
  const [examination, setExamination] = useState<Examination | null>(null);
  const [error, setError] = useState<Error | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt examines once more
  useEffect(() => {
    const controller = new AbortController();
    const { name: _, ...body } = describeInstance(draft);
    setChecks([]);
    setExamination(null);
    setError(null);
    examine(
      { method: 'POST', path: '/instances/check', body },
      (check) => setChecks((before) => [...before, check]),
      controller.signal,
    ).then(
      (found) => {
        setChecks(found.checks);
        setExamination(found);
      },
      (reason: Error) => {
        if (!controller.signal.aborted) setError(reason);
      },
    );
    return () => controller.abort();
  }, [draft, attempt]);

  return {
    checks,
    examination,
    error,
    isRunning: examination === null && error === null,
    restart: () => setAttempt(attempt + 1),
  };
}

const LOOKS = {
  ok: { color: 'teal', icon: 'check' },
  failed: { color: 'red', icon: 'cross' },
  skipped: { color: 'gray', icon: 'chevron' },
} as const;

function Check({ name, state, text }: ExaminationCheck) {
  const { color, icon } = LOOKS[state];
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start" style={{ listStyle: 'none' }}>
      <ThemeIcon size="sm" radius="xl" variant="light" color={color} role="img" aria-label={state}>
        <Icon name={icon} size={12} />
      </ThemeIcon>
      <Text size="sm" w={90} flex="none">
        {name}
      </Text>
      <Text
        size="sm"
        c={state === 'failed' ? 'var(--mantine-color-text)' : 'dimmed'}
        style={{ overflowWrap: 'anywhere', minWidth: 0 }}
      >
        {text}
      </Text>
    </Group>
  );
}

function describeSuccess({ version, user }: Examination): string {
  const odoo = version === null ? 'Odoo' : `Odoo ${version}`;
  return user === null ? `${odoo} works.` : `${odoo} works. Calls run as ${user.name} (${user.login}).`;
}
