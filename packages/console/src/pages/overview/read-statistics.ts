/** Reads statistics of a period up to now: its times are computed when a request is sent. */
import type { StatisticsFilters, StatisticsView } from '@erp-proxy/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import { RANGES, type RangeName } from './ranges.ts';

/** The period that is shown as the present. */
const NOW_MS = 5 * 60_000;
const NOW_REFRESH_MS = 5_000;

export function readRange(range: RangeName, isPaused: boolean) {
  const { durationMs, step, refreshMs } = RANGES[range];
  return readStatistics(durationMs, { step }, isPaused ? false : refreshMs);
}

export function readGroups(range: RangeName, by: NonNullable<StatisticsFilters['by']>, isPaused: boolean) {
  const { durationMs, step, refreshMs } = RANGES[range];
  // For a day, statistics by hour are enough, and far less work.
  const groupStep = durationMs > 6 * 3_600_000 ? 'hour' : step;
  return readStatistics(
    durationMs,
    { step: groupStep, by, limit: GROUPS_SHOWN },
    isPaused ? false : refreshMs * 2,
  );
}

const GROUPS_SHOWN = 8;

export function readNow(isPaused: boolean) {
  return readStatistics(NOW_MS, { step: 'minute' }, isPaused ? false : NOW_REFRESH_MS);
}

/** Reads statistics of the whole time for which they are kept, to see whether there was any call. */
export function readAllTime() {
  return readStatistics(RANGES['30d'].durationMs, { step: 'hour' }, false);
}

export function describeRequest(
  durationMs: number,
  filters: Pick<StatisticsFilters, 'step' | 'by' | 'limit'>,
) {
  const since = new Date(Date.now() - durationMs).toISOString();
  return { method: 'GET', path: '/stats', query: { since, ...filters } } as const;
}

function readStatistics(
  durationMs: number,
  filters: Pick<StatisticsFilters, 'step' | 'by' | 'limit'>,
  refetchInterval: number | false,
) {
  return queryOptions({
    queryKey: ['/stats', durationMs, filters],
    queryFn: ({ signal }) => send<StatisticsView>(describeRequest(durationMs, filters), signal),
    placeholderData: keepPreviousData,
    refetchInterval,
    refetchOnWindowFocus: refetchInterval !== false,
  });
}
