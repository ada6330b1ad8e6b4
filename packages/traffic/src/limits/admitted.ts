/** Combines the results of a key's limits into one, with the remaining quotas. Pure, for local and shared counts. */
import type { KeyLimit, Policy } from '@erp-proxy/contract';
import type { MonthTaken } from './month.ts';
import type { Rate, Taken } from './rate.ts';

export type LimitingPolicy = Pick<Policy, KeyLimit>;

export interface LimitedKey {
  id: string;
  policy: LimitingPolicy;
}

export type Admitted =
  | ({ ok: true } & Quotas)
  /** `retryAfterSeconds` is null if the limits never allow this number of calls at once. */
  | ({
      ok: false;
      rule: KeyLimit;
      retryAfterSeconds: number | null;
    } & Quotas);

/**
 * The remaining quotas, for the response headers. Null if the key has no such limit, or if another limit refused the
 * call.
 */
interface Quotas {
  rate: RateState | null;
  day: RateState | null;
  month: RateState | null;
}

/** What remains of a limit. */
export interface RateState extends Pick<Taken, 'remaining' | 'resetSeconds'> {
  burst: number;
  seconds: number;
}

const BUSY_RETRY_SECONDS = 1;
const SHARE_RETRY_SECONDS = 5;
const DAY_SECONDS = 86_400;
const NO_QUOTAS: Quotas = { rate: null, day: null, month: null };

export const UNLIMITED: Admitted = { ok: true, ...NO_QUOTAS };

/** The result if the concurrency of the key is used up. */
export const BUSY: Admitted = {
  ok: false,
  rule: 'concurrency',
  retryAfterSeconds: BUSY_RETRY_SECONDS,
  ...NO_QUOTAS,
};

/** The rate of a policy, with the default for its burst; null if the policy has none. */
export function readRate({ rate }: LimitingPolicy): Rate | null {
  return rate === undefined ? null : { ...rate, burst: rate.burst ?? rate.requests };
}

/** The results of the single limits. Null: the limit does not exist or was not checked. */
export interface TakenOf {
  rate: Taken | null;
  day: Taken | null;
  month: MonthTaken | null;
}

/** Combines the results of the limits. The month is checked first, then the day. */
export function combineTaken(policy: LimitingPolicy, { rate, day, month }: TakenOf): Admitted {
  const { per_day, per_month } = policy;
  const limit = readRate(policy);
  const states: Quotas = {
    rate: rate && limit && describeState(rate, limit),
    day: day && per_day ? describeState(day, { burst: per_day, seconds: DAY_SECONDS }) : null,
    month: month && per_month ? describeState(month, { burst: per_month, seconds: month.seconds }) : null,
  };
  if (month?.ok === false) return refuse('per_month', month, { month: states.month });
  if (day?.ok === false) return refuse('per_day', day, { day: states.day });
  if (rate?.ok === false) return refuse('rate', rate, { rate: states.rate });
  return { ok: true, ...states };
}

function refuse(
  rule: Exclude<KeyLimit, 'concurrency'>,
  { retryAfterSeconds }: Extract<Taken, { ok: false }>,
  state: Partial<Quotas>,
): Admitted {
  return { ok: false, rule, retryAfterSeconds, ...NO_QUOTAS, ...state };
}

/**
 * Corrects `retryAfterSeconds` for a request of several calls: null if the calls exceed the limits themselves, a number
 * if they exceed only the share of this process, because shares change.
 */
export function checkRequest(admitted: Admitted, policy: LimitingPolicy, calls: number): Admitted {
  if (admitted.ok || admitted.rule === 'concurrency') return admitted;
  const { per_day = calls, per_month = calls } = policy;
  const isEverPossible = calls <= Math.min(readRate(policy)?.burst ?? calls, per_day, per_month);
  return {
    ...admitted,
    retryAfterSeconds: isEverPossible ? (admitted.retryAfterSeconds ?? SHARE_RETRY_SECONDS) : null,
  };
}

function describeState(
  { remaining, resetSeconds }: Taken,
  limit: Pick<Rate, 'burst' | 'seconds'>,
): RateState {
  return { remaining, resetSeconds, burst: limit.burst, seconds: limit.seconds };
}

/**
 * The share of one process in limits that several processes enforce without communication. Calls per month are not
 * divided: the processes exchange their counts (month.ts). Pure.
 */
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
