import { Group, Loader, Stack, Text, ThemeIcon } from '@mantine/core';
import { Icon, type IconName } from './icon.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import type { ExaminationRun } from './use-examination.ts';

const LOOKS: Record<'ok' | 'failed' | 'skipped', { icon: IconName; color: string; word: string }> = {
  ok: { icon: 'check', color: 'teal', word: 'ok' },
  failed: { icon: 'cross', color: 'red', word: 'failed' },
  skipped: { icon: 'pause', color: 'gray', word: 'not checked' },
};

const TITLES: Record<string, string> = {
  url: 'Address',
  egress: 'Egress rules',
  dns: 'Name of the server',
  connection: 'Connection',
  tls: 'Certificate',
  odoo: 'Odoo',
  version: 'Version',
  protocol: 'Protocol',
  database: 'Database',
  user: 'User',
  key: 'Odoo key',
  expiry: 'End of the key',
  time: 'Round trip',
};

/** Shows the checks of a server, each as soon as it is found. */
export function ExaminationSteps({ run, onDismiss }: { run: ExaminationRun; onDismiss: () => void }) {
  const { isRunning, checks, examination, error } = run;
  if (!isRunning && checks.length === 0 && error === null) return null;
  return (
    <Stack gap="xs" aria-live="polite">
      {checks.map(({ name, state, text }) => {
        const { icon, color, word } = LOOKS[state];
        return (
          <Group key={name} gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon size={22} radius="xl" variant="light" color={color} role="img" aria-label={word}>
              <Icon name={icon} size={14} />
            </ThemeIcon>
            <Text size="sm" w={130} style={{ flexShrink: 0 }}>
              {TITLES[name] ?? name}
            </Text>
            <Text
              size="sm"
              {...(state === 'failed' ? { fw: 600 } : { c: 'dimmed' })}
              style={{ overflowWrap: 'anywhere', minWidth: 0 }}
            >
              {text}
            </Text>
          </Group>
        );
      })}
      {isRunning && (
        <Group gap="sm" role="status">
          <Loader size={18} mx={2} />
          <Text size="sm" c="dimmed">
            Checking…
          </Text>
        </Group>
      )}
      {examination !== null && (
        <Text size="sm" fw={600}>
          {examination.ok ? 'Calls to this server work.' : 'Calls to this server do not work yet.'}
        </Text>
      )}
      <ProblemAlert error={error} onDismiss={onDismiss} />
    </Stack>
  );
}
