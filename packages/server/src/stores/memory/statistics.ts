/** Statistics of calls in memory. */
import type { StatisticsRow, StatisticsStore } from '../ports.ts';
import { compareCodePoints } from './text.ts';

export function createMemoryStatistics(): StatisticsStore {
  const rows = new Map<string, StatisticsRow>();
  const sorted = () =>
    [...rows.values()].sort(
      (one, other) => one.startsAt - other.startsAt || compareCodePoints(one.process, other.process),
    );
  return {
    put(added) {
      for (const row of added) rows.set(`${row.step} ${row.startsAt} ${row.process}`, row);
    },
    list({ step, since, until, after, limit }) {
      const isAfter = ({ startsAt, process }: StatisticsRow) =>
        after === null ||
        startsAt > after.startsAt ||
        (startsAt === after.startsAt && compareCodePoints(process, after.process) > 0);
      return sorted()
        .filter((row) => row.step === step && row.startsAt >= since && row.startsAt < until && isAfter(row))
        .slice(0, limit);
    },
    prune(step, before, limit) {
      const old = sorted()
        .filter((row) => row.step === step && row.startsAt < before)
        .slice(0, limit);
      for (const row of old) rows.delete(`${row.step} ${row.startsAt} ${row.process}`);
      return old.length;
    },
  };
}
