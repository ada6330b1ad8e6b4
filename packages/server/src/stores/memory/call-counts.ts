/** Counts of calls in memory. */
import { findOldestMonth } from '../oldest-month.ts';
import type { CallCountStore } from '../ports.ts';

export function createMemoryCallCounts(): CallCountStore {
  /** By month, then by client. */
  const months = new Map<string, Map<string, number>>();
  const read = (month: string, clientId: string) => months.get(month)?.get(clientId) ?? 0;
  return {
    add(counts) {
      const oldest = findOldestMonth(counts);
      for (const month of months.keys()) if (month < oldest) months.delete(month);
      return counts.map(({ month, clientId, calls }) => {
        const sum = read(month, clientId) + calls;
        months.set(month, (months.get(month) ?? new Map()).set(clientId, sum));
        return { month, clientId, calls: sum };
      });
    },
    read,
  };
}
