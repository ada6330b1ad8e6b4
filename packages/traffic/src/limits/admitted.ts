/** Combines the results of a key's limits into one, with the remaining quotas. Pure, for local and shared counts. */
import type { KeyLimit, Policy } from '@erp-proxy/contract';
import { PERIODS, type PeriodLimit, type PeriodName, type PeriodTaken } from './periods.ts';
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
type Quotas = Record<'rate' | PeriodName, RateState | null>;

/** What remains of a limit. */
export interface RateState extends Pick<Taken, 'remaining' | 'resetSeconds'> {
  burst: number;
  seconds: number;
}

const BUSY_RETRY_SECONDS = 1;
const SHARE_RETRY_SECONDS = 5;
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

/** The results of the single limits. Without a result, the limit does not exist or was not checked. */
export interface TakenOf {
  rate: Taken | null;
  periods: Partial<Record<PeriodLimit, PeriodTaken>>;
}

/** Combines the results of the limits. Periods are checked first, then the rate. */
export function combineTaken(policy: LimitingPolicy, { rate, periods }: TakenOf): Admitted {
  const quotas = { ...NO_QUOTAS };
  for (const { limit, name } of PERIODS) {
    const [taken, max] = [periods[limit], policy[limit]];
    if (taken === undefined || max === undefined) continue;
    const state = describeState(taken, { burst: max, seconds: taken.seconds });
    if (!taken.ok) return refuse(limit, taken, { [name]: state });
    quotas[name] = state;
  }
  const limit = readRate(policy);
  if (rate !== null && limit !== null) {
    const state = describeState(rate, limit);
    if (!rate.ok) return refuse('rate', rate, { rate: state });
    quotas.rate = state;
  }
  return { ok: true, ...quotas };
}

/** The remaining quotas with their names in the headers of answers: that of the rate is `key`. The shortest first. */
export function listQuotas(admitted: Admitted): (RateState & { name: string })[] {
  const periods = PERIODS.toReversed().map(({ name }) => [name, admitted[name]] as const);
  const named = [['key', admitted.rate] as const, ...periods];
  return named.flatMap(([name, state]) => (state === null ? [] : [{ name, ...state }]));
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
  const limits = [readRate(policy)?.burst, ...PERIODS.map(({ limit }) => policy[limit])];
  const isEverPossible = limits.every((max) => max === undefined || calls <= max);
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
 * The share of one process in limits that several processes enforce without communication. Calls in a period are not
 * divided: the processes exchange their counts (periods.ts). Pure.
 */
export function takeShare(policy: LimitingPolicy, processes: number): LimitingPolicy {
  if (processes === 1) return policy;
  const divide = (whole: number) => divideWhole(whole, processes);
  const rate = readRate(policy);
  const { concurrency } = policy;
  return {
    ...policy,
    ...(rate && { rate: { ...rate, requests: rate.requests / processes, burst: divide(rate.burst) } }),
    ...(concurrency !== undefined && { concurrency: divide(concurrency) }),
  };
}

/** Integer division, at least 1: if there are more processes than calls, each may have one call. */
export function divideWhole(whole: number, processes: number): number {
  return Math.max(1, Math.floor(whole / processes));
}
