/** Step: whether the key may make another call now. Before the body is read: a call too many costs next to nothing. */
import type { Client } from '../keys/keys.ts';
import type { Admitted, KeyLimits, LimitedKey, RateState } from '../limits/key-limits.ts';
import { Denial } from './denial.ts';
import type { AnswerHeaders } from './exchange.ts';

/** A request that its key's limits have let in. It must `leave`. */
export class Pass {
  readonly #limits: KeyLimits;
  readonly #key: LimitedKey;
  #rate: RateState | null;
  #slots = 1;

  constructor(limits: KeyLimits, key: LimitedKey, rate: RateState | null) {
    this.#limits = limits;
    this.#key = key;
    this.#rate = rate;
  }

  /** Counts the calls of a batch beyond the first, all or none. */
  takeCalls(count: number): Denial | null {
    const admitted = this.#limits.takeMore(this.#key, count);
    this.#rate = admitted.rate ?? this.#rate;
    return admitted.ok ? null : denyLimited(admitted, count + 1);
  }

  /** How many of `wanted` calls may run at once. */
  takeSlots(wanted: number): number {
    this.#slots += this.#limits.takeSlots(this.#key, wanted - this.#slots);
    return this.#slots;
  }

  describe(): AnswerHeaders {
    return describeRate(this.#rate);
  }

  leave(): void {
    this.#limits.leave(this.#key, this.#slots);
  }
}

/** Null: the key has no limits. */
export function throttle({ key, policy }: Client, limits: KeyLimits): Pass | Denial | null {
  if (policy === null) return null;
  const { rate, concurrency } = policy.policy;
  if (rate === undefined && concurrency === undefined) return null;
  const limited = { id: key.id, policy: policy.policy };
  const admitted = limits.enter(limited);
  return admitted.ok ? new Pass(limits, limited, admitted.rate) : denyLimited(admitted, 1);
}

function denyLimited({ rule, rate, retryAfterSeconds }: Admitted & { ok: false }, calls: number): Denial {
  const more = { rule, headers: describeRate(rate) };
  if (rule === 'concurrency') {
    const message = 'The key has as many calls running as it may; send this one when another has ended.';
    return new Denial('rate_limited', message, { ...more, retryAfterSeconds: retryAfterSeconds ?? 1 });
  }
  if (retryAfterSeconds === null) {
    const message = `The batch has ${calls} calls, more than the key may ever make at once; send it in parts.`;
    return new Denial('policy_denied', message, more);
  }
  const message = `The key has made as many calls as it may for now; try again in ${retryAfterSeconds} s.`;
  return new Denial('rate_limited', message, { ...more, retryAfterSeconds });
}

/** `ratelimit` and `ratelimit-policy` (draft-ietf-httpapi-ratelimit-headers-10). */
function describeRate(rate: RateState | null): AnswerHeaders {
  if (rate === null) return {};
  const { remaining, resetSeconds, burst, seconds } = rate;
  return {
    'ratelimit-policy': `"key";q=${burst};w=${seconds}`,
    ratelimit: `"key";r=${remaining};t=${resetSeconds}`,
  };
}
