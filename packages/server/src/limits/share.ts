/**
 * The share of one process in limits that several processes enforce without communication. Calls per month are not
 * divided: the processes exchange their counts (month.ts). Pure.
 */
import { type LimitingPolicy, readRate } from './admitted.ts';

export function takeShare(policy: LimitingPolicy, processes: number): LimitingPolicy {
  if (processes === 1) return policy;
  const divide = (whole: number) => divideWhole(whole, processes);
  const rate = readRate(policy);
  const { concurrency, per_day, per_month } = policy;
  return {
    ...(rate && { rate: { ...rate, requests: rate.requests / processes, burst: divide(rate.burst) } }),
    ...(concurrency !== undefined && { concurrency: divide(concurrency) }),
    ...(per_day !== undefined && { per_day: divide(per_day) }),
    ...(per_month !== undefined && { per_month }),
  };
}

/** Integer division, at least 1: if there are more processes than calls, each may have one call. */
export function divideWhole(whole: number, processes: number): number {
  return Math.max(1, Math.floor(whole / processes));
}
