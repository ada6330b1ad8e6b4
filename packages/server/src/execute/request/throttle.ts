/** Step: whether the key may make another call now. Before the body is read: a call too many costs next to nothing. */
import type { Client } from '../../keys/keys.ts';
import type { Admitted, LimitedKey, Limits, RateState } from '../../limits/key-limits.ts';
import type { AnswerHeaders } from '../../streams/answer-writer.ts';
import { Denial } from '../terms/denial.ts';

type Quotas = Pick<Admitted, 'rate' | 'day'>;

/** A request that its key's limits have let in. It must `leave`. */
export class Pass {
  readonly #limits: Limits;
  readonly #key: LimitedKey;
  #quotas: Quotas;
  #slots = 1;

  constructor(limits: Limits, key: LimitedKey, quotas: Quotas) {
    this.#limits = limits;
    this.#key = key;
    this.#quotas = quotas;
  }

  /** Counts the calls of a batch beyond the first, all or none. */
  async takeCalls(count: number): Promise<Denial | null> {
    if (count === 0) return null;
    const admitted = await this.#limits.admitMore(this.#key, count);
    this.#quotas = admitted;
    return admitted.ok ? null : denyLimited(admitted, count + 1);
  }

  /** How many of `wanted` calls may run at once. */
  async takeSlots(wanted: number): Promise<number> {
    this.#slots += await this.#limits.acquireMore(this.#key, wanted - this.#slots);
    return this.#slots;
  }

  describe(): AnswerHeaders {
    return describeQuotas(this.#quotas);
  }

  leave(): void {
    this.#limits.release(this.#key, this.#slots);
  }
}

/** Null: the key has no limits. */
export async function throttle({ key, policy }: Client, limits: Limits): Promise<Pass | Denial | null> {
  if (policy === null) return null;
  const { rate, concurrency, per_day } = policy.policy;
  if (rate === undefined && concurrency === undefined && per_day === undefined) return null;
  const limited = { id: key.id, policy: policy.policy };
  const admitted = await limits.admit(limited);
  return admitted.ok ? new Pass(limits, limited, admitted) : denyLimited(admitted, 1);
}

function denyLimited(admitted: Admitted & { ok: false }, calls: number): Denial {
  const { rule, retryAfterSeconds } = admitted;
  const more = { rule, headers: describeQuotas(admitted) };
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
function describeQuotas({ rate, day }: Quotas): AnswerHeaders {
  const named: [string, RateState | null][] = [
    ['key', rate],
    ['day', day],
  ];
  const quotas = named.flatMap(([name, state]) => (state === null ? [] : [{ name, ...state }]));
  if (quotas.length === 0) return {};
  return {
    'ratelimit-policy': quotas
      .map(({ name, burst, seconds }) => `"${name}";q=${burst};w=${seconds}`)
      .join(', '),
    ratelimit: quotas
      .map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`)
      .join(', '),
  };
}
