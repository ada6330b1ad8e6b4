/** Reads the statistics of calls for an administrator. */
import type { StatisticsFilters } from '@erp-proxy/contract';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';

/** Longer than statistics are kept: a longer range would only take more time. */
const RANGE_MS_MAX = 32 * 86_400_000;

export function createStatisticsAdmin({ statistics }: AdminDeps): Pick<Admin, 'getStatistics'> {
  return {
    async getStatistics({ since, until, ...query }) {
      const range = { since: readMoment('since', since), until: readMoment('until', until) };
      const { since: from = 0, until: to = Number.MAX_SAFE_INTEGER } = range;
      if (from >= to) throw createAdminError(400, 'since must be before until.');
      if (range.since !== undefined && range.until !== undefined && to - from > RANGE_MS_MAX)
        throw createAdminError(400, 'since and until may be at most 32 days apart.');
      return await statistics.query({ ...query, ...range });
    },
  };
}

function readMoment(name: keyof StatisticsFilters, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time === null) throw createAdminError(400, `${name} is ${TIME_FORM}.`);
  return time;
}
