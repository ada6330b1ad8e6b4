/** A process's share of limits that several processes keep without asking each other. Pure. */
import { type LimitingPolicy, readRate } from './admitted.ts';

export function takeShare(policy: LimitingPolicy, processes: number): LimitingPolicy {
  if (processes === 1) return policy;
  const divide = (whole: number) => divideWhole(whole, processes);
  const rate = readRate(policy);
  const { concurrency, per_day } = policy;
  return {
    ...(rate && { rate: { ...rate, requests: rate.requests / processes, burst: divide(rate.burst) } }),
    ...(concurrency !== undefined && { concurrency: divide(concurrency) }),
    ...(per_day !== undefined && { per_day: divide(per_day) }),
  };
}

/** Whole calls are not divided: of fewer than there are processes, each may have one. */
export function divideWhole(whole: number, processes: number): number {
  return Math.max(1, Math.floor(whole / processes));
}
