/** Shows the figures of the last minutes. */
import { Paper, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { measureNow } from './periods.ts';
import { printCount } from './print-plot.ts';
import { readNow } from './read-statistics.ts';

export function Numbers({ isPaused }: { isPaused: boolean }) {
  const { data, error } = useQuery(readNow(isPaused));
  const { perMinute, errorShare } =
    data === undefined ? { perMinute: null, errorShare: null } : measureNow(data);
  return (
    <section aria-label="Now">
      <ProblemAlert error={error} />
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md">
        {data?.now !== null && (
          <>
            <Tile label="In flight" hint="in this process" value={data && String(data.now.in_flight)} />
            <Tile label="Queued" hint="waiting for Odoo" value={data && String(data.now.queued)} />
          </>
        )}
        <Tile
          label="Calls per minute"
          hint="over five minutes"
          value={perMinute === null ? undefined : printCount(Number(perMinute.toFixed(1)))}
        />
        <Tile
          label="Error share"
          hint="over five minutes"
          value={data && (errorShare === null ? '–' : `${(errorShare * 100).toFixed(1)}%`)}
          isBad={errorShare !== null && errorShare > BAD_SHARE}
        />
      </SimpleGrid>
    </section>
  );
}

const BAD_SHARE = 0.05;

interface TileProps {
  label: string;
  hint: string;
  /** Undefined while it is not known. */
  value: string | undefined;
  isBad?: boolean;
}

function Tile({ label, hint, value = '…', isBad = false }: TileProps) {
  return (
    <Paper withBorder p="sm">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text
        fz={26}
        fw={600}
        lh={1.3}
        {...(isBad ? { c: 'red' } : {})}
        style={{ fontVariantNumeric: 'tabular-nums' }}
      >
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
    </Paper>
  );
}
