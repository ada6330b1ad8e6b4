/** Converts statistics to the points of plots. Pure. */
import type { CallStatistics, DurationQuantiles, StatisticsView } from '@erp-proxy/contract';
import { sortOutcomes } from '../../parts/outcome-colors.ts';

const STEP_MS = { minute: 60_000, hour: 3_600_000 } as const;

/** The values of one point; null is a gap. */
export type Point = { at: number } & Record<string, number | null>;

/**
 * Returns a point for each period of the range. The statistics have no periods without calls: their counts become zero,
 * and their durations gaps.
 */
export function fillPeriods(view: StatisticsView): Point[] {
  const { since, until, step, periods } = view;
  const stepMs = STEP_MS[step];
  const known = new Map(periods.map((period) => [Date.parse(period.at), period]));
  const start = Date.parse(since);
  const end = Date.parse(until);
  const noErrors = Object.fromEntries(listErrorTypes(view).map((type) => [nameError(type), 0]));
  const points: Point[] = [];
  for (let at = start - (start % stepMs); at < end; at += stepMs) {
    const period = known.get(at);
    points.push({ at, ...noErrors, ...(period === undefined ? NO_CALLS : toValues(period)) });
  }
  return points;
}

/** The types of errors that occurred in the range, in a fixed order. */
export function listErrorTypes({ total }: Pick<StatisticsView, 'total'>): string[] {
  return sortOutcomes(Object.keys(total.errors));
}

export function countErrors({ errors }: Pick<CallStatistics, 'errors'>): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}

/** Adds a prefix, so that error types do not collide with the other values of a point. */
export function nameError(type: string): string {
  return `error_${type}`;
}

const COUNTS = ['shared', 'replayed', 'refused'] as const;

const NO_CALLS: Record<string, number | null> = {
  succeeded: 0,
  failed: 0,
  in_flight: 0,
  queued: 0,
  ...Object.fromEntries(COUNTS.map((name) => [name, 0])),
  ...toQuantiles('proxy', null),
  ...toQuantiles('odoo', null),
};

function toValues(period: StatisticsView['periods'][number]): Record<string, number | null> {
  const failed = countErrors(period);
  return {
    succeeded: Math.max(0, period.calls - failed),
    failed,
    in_flight: period.in_flight_max,
    queued: period.queued_max,
    ...Object.fromEntries(COUNTS.map((name) => [name, period[name]])),
    ...toQuantiles('proxy', period.proxy_ms),
    ...toQuantiles('odoo', period.odoo_ms),
    ...Object.fromEntries(Object.entries(period.errors).map(([type, count]) => [nameError(type), count])),
  };
}

function toQuantiles(prefix: string, quantiles: DurationQuantiles | null): Record<string, number | null> {
  return {
    [`${prefix}_p50`]: quantiles?.p50 ?? null,
    [`${prefix}_p95`]: quantiles?.p95 ?? null,
    [`${prefix}_p99`]: quantiles?.p99 ?? null,
  };
}

/** Calls per minute, and the share of failed ones (null without calls), over the range up to now. */
export function measureNow({ since, until, total }: Pick<StatisticsView, 'since' | 'until' | 'total'>) {
  const minutes = (Date.parse(until) - Date.parse(since)) / STEP_MS.minute;
  return {
    perMinute: minutes > 0 ? total.calls / minutes : 0,
    errorShare: total.calls === 0 ? null : countErrors(total) / total.calls,
  };
}
