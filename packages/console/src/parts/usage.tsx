/** Shows the calls of an object during the last day. */
import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readAdmin } from '../api/queries.ts';
import { addDays } from './local-time.ts';
import { type Bar, placeHours } from './place-hours.ts';
import { ProblemAlert } from './problem-alert.tsx';

/** The members of statistics that are shown. */
interface UsageStatistics {
  since: string;
  until: string;
  total: {
    calls: number;
    errors: Record<string, number>;
    refused: number;
    odoo_ms: { p50: number; p95: number } | null;
  };
  periods: { at: string; calls: number; errors: Record<string, number> }[];
}

/** `of` is a filter of the statistics, such as `{ key: <client id> }`. */
export function Usage({ of }: { of: Record<string, string> }) {
  const [since] = useState(() => addDays(-1));
  const { data, error } = useQuery(readAdmin<UsageStatistics>('/stats', { ...of, since, step: 'hour' }));
  if (error !== null) return <ProblemAlert error={error} />;
  if (data === undefined) return null;
  const { total } = data;
  const errors = countErrors(total.errors);
  return (
    <Stack gap="sm">
      <Group gap="8px 32px">
        <Figure name="Calls" value={total.calls.toLocaleString('en')} />
        <Figure
          name="Errors"
          value={total.calls === 0 ? '0' : `${((errors / total.calls) * 100).toFixed(1)} %`}
        />
        <Figure name="Refused by limits" value={total.refused.toLocaleString('en')} />
        <Figure name="Odoo, median" value={printMs(total.odoo_ms?.p50)} />
        <Figure name="Odoo, 95 %" value={printMs(total.odoo_ms?.p95)} />
      </Group>
      {total.calls === 0 ? (
        <Text size="sm" c="dimmed">
          There were no calls in the last 24 hours.
        </Text>
      ) : (
        <Bars bars={placeHours(data)} total={total.calls} errors={errors} />
      )}
    </Stack>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
    </div>
  );
}

const HEIGHT = 48;
const WIDTH = 10;

function Bars({ bars, total, errors }: { bars: readonly Bar[]; total: number; errors: number }) {
  const most = Math.max(1, ...bars.map(({ calls }) => calls));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT));
  return (
    <svg
      role="img"
      aria-label={`Calls by hour of the last day: ${total} calls, ${errors} errors`}
      viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      width="100%"
      height={HEIGHT}
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      {bars.map(({ at, calls, errors: failed }, place) => (
        <g key={at}>
          <title>{`${new Date(at).toLocaleString()}: ${calls} calls, ${failed} errors`}</title>
          <rect x={place * WIDTH} y={0} width={WIDTH - 1} height={HEIGHT} fill="transparent" />
          <rect
            x={place * WIDTH}
            y={HEIGHT - scale(calls)}
            width={WIDTH - 1}
            height={scale(calls)}
            fill="var(--mantine-color-indigo-5)"
          />
          <rect
            x={place * WIDTH}
            y={HEIGHT - scale(failed)}
            width={WIDTH - 1}
            height={scale(failed)}
            fill="var(--mantine-color-red-6)"
          />
        </g>
      ))}
    </svg>
  );
}

function printMs(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;
}

function countErrors(errors: Record<string, number>): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}
