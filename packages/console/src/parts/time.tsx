import { Text, Tooltip } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { printAge } from './print-age.ts';

/** Shows a time relative to now, and the exact time on hover. */
export function Time({ at }: { at: string | null }) {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 30_000, { autoInvoke: true });
  if (at === null)
    return (
      <Text span c="dimmed" size="sm">
        never
      </Text>
    );
  return (
    <Tooltip label={new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {printAge(Date.parse(at) - now)}
      </time>
    </Tooltip>
  );
}
