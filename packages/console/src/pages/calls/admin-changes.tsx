/** Shows what an administrator changed, line by line. */

import type { AuditAdminView } from '@erp-proxy/contract';
import { clipText } from '@erp-proxy/contract';
import { Box, Code, Group, Stack, Text, Title } from '@mantine/core';
import { CopyText } from '../../parts/copy-text.tsx';
import classes from './admin-changes.module.css';
import { type ComparedLine, compareTexts } from './compare-texts.ts';

/** Maximum lines that are rendered, so that the page stays fast. All of them can be copied. */
const LINES_MAX = 400;
const LINE_LENGTH_MAX = 1_000;
const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

export function AdminChanges({ changes }: Pick<AuditAdminView, 'changes'>) {
  const members = Object.entries(changes);
  return (
    <section aria-label="Changes">
      <Title order={3} size="h5" mb="xs">
        Changes
      </Title>
      {members.length === 0 && (
        <Text size="sm" c="dimmed">
          This action changed no member.
        </Text>
      )}
      <Stack gap="sm">
        {members.map(([name, { from, to }]) => (
          <Box key={name}>
            <Group justify="space-between">
              <Text className="data" fw={600}>
                {name}
              </Text>
              <CopyText
                text={JSON.stringify({ [name]: { from, to } }, null, 2)}
                label={`Copy the change of ${name}`}
              />
            </Group>
            <Difference name={name} from={from} to={to} />
          </Box>
        ))}
      </Stack>
    </section>
  );
}

function Difference({ name, from, to }: { name: string; from: unknown; to: unknown }) {
  const lines = compareTexts(printValue(from), printValue(to));
  const shown = lines.slice(0, LINES_MAX);
  return (
    <Code
      block
      tabIndex={0}
      role="region"
      aria-label={`Change of ${name}`}
      mah={420}
      p={0}
      style={{ overflow: 'auto' }}
    >
      {shown.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal, and a record does not change
        <Line key={index} line={line} />
      ))}
      {lines.length > shown.length &&
        `… ${lines.length - shown.length} more lines: copy the change to see them`}
    </Code>
  );
}

function Line({ line: { change, text } }: { line: ComparedLine }) {
  return (
    <div className={classes[change]}>
      <span aria-hidden="true">{SIGNS[change]} </span>
      {change !== 'same' && <span className={classes['hidden']}>{change}: </span>}
      {clipText(text, LINE_LENGTH_MAX)}
    </div>
  );
}

/** Prints a value as lines of text. A member that did not exist before or after the change has no JSON. */
function printValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'none');
}
