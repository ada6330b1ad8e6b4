/** What the limits of a key say to a call, and what is left of them: the same wherever the counts are kept. Pure. */
import type { Policy } from '@erp-proxy/contract';
import type { Rate, Taken } from './rate.ts';

export type LimitingPolicy = Pick<Policy, 'rate' | 'per_day' | 'concurrency'>;

export interface LimitedKey {
  id: string;
  policy: LimitingPolicy;
}

export type Admitted =
  | ({ ok: true } & Quotas)
  /** `retryAfterSeconds` is null where so many calls can never be had at once. */
  | ({ ok: false; rule: 'rate' | 'per_day' | 'concurrency'; retryAfterSeconds: number | null } & Quotas);

/** For the headers of the answer; null where the key has no such limit, or another one refused the call. */
interface Quotas {
  rate: RateState | null;
  day: RateState | null;
}

/** What is left of a rate. */
export interface RateState extends Pick<Taken, 'remaining' | 'resetSeconds'> {
  burst: number;
  seconds: number;
}

const BUSY_RETRY_SECONDS = 1;
const SHARE_RETRY_SECONDS = 5;
const DAY_SECONDS = 86_400;
const NO_QUOTAS: Quotas = { rate: null, day: null };

export const UNLIMITED: Admitted = { ok: true, ...NO_QUOTAS };

/** As many run as may. */
export const BUSY: Admitted = {
  ok: false,
  rule: 'concurrency',
  retryAfterSeconds: BUSY_RETRY_SECONDS,
  ...NO_QUOTAS,
};

/** The rate of a policy, which may leave its burst out; null where it has none. */
export function readRate({ rate }: LimitingPolicy): Rate | null {
  return rate === undefined ? null : { ...rate, burst: rate.burst ?? rate.requests };
}

/** What follows from what each limit says; null: there is none, or it was not asked. The day is asked first. */
export function combineTaken(policy: LimitingPolicy, rate: Taken | null, day: Taken | null): Admitted {
  const { per_day } = policy;
  const limit = readRate(policy);
  const rateState = rate && limit && describeState(rate, limit);
  const dayState = day && per_day ? describeState(day, { burst: per_day, seconds: DAY_SECONDS }) : null;
  if (day?.ok === false)
    return {
      ok: false,
      rule: 'per_day',
      retryAfterSeconds: day.retryAfterSeconds,
      rate: null,
      day: dayState,
    };
  if (rate?.ok === false)
    return { ok: false, rule: 'rate', retryAfterSeconds: rate.retryAfterSeconds, rate: rateState, day: null };
  return { ok: true, rate: rateState, day: dayState };
}

/**
 * For a request of several calls: whether it makes sense to send it again. Where they are more than can be had at once,
 * ever, it does not; where they are only more than one process's share, it does, since shares change.
 */
export function judgeRequest(admitted: Admitted, policy: LimitingPolicy, calls: number): Admitted {
  if (admitted.ok || admitted.rule === 'concurrency') return admitted;
  const isEverPossible = calls <= (readRate(policy)?.burst ?? calls) && calls <= (policy.per_day ?? calls);
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
