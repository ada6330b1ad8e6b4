/**
 * The ranges of time that the overview can show. Statistics by minute are kept for a day, those by hour for 30 days.
 */
import type { StatisticsFilters } from '@erp-proxy/contract';

interface Range {
  label: string;
  durationMs: number;
  step: NonNullable<StatisticsFilters['step']>;
  /** Interval between readings: a longer range is more work for the proxy. */
  refreshMs: number;
  /** Name of the audit filter `last` that covers the range. */
  last: string;
}

export const RANGES = {
  '1h': { label: 'Last hour', durationMs: 3_600_000, step: 'minute', refreshMs: 5_000, last: '1h' },
  '6h': { label: 'Last 6 hours', durationMs: 6 * 3_600_000, step: 'minute', refreshMs: 15_000, last: '6h' },
  '24h-minutes': {
    label: 'Last day by minute',
    durationMs: 24 * 3_600_000,
    step: 'minute',
    refreshMs: 60_000,
    last: '24h',
  },
  '24h': {
    label: 'Last day by hour',
    durationMs: 24 * 3_600_000,
    step: 'hour',
    refreshMs: 15_000,
    last: '24h',
  },
  '30d': { label: 'Last 30 days', durationMs: 30 * 86_400_000, step: 'hour', refreshMs: 60_000, last: '30d' },
} as const satisfies Record<string, Range>;

export type RangeName = keyof typeof RANGES;

export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];
