/**
 * Step: enforces rate, calls per day and month, and concurrency of the key. Counts the first call before the body is
 * read, so that a refusal costs little. Further calls of a batch are counted after the body was parsed.
 */
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { type CallSource, type DataRoute, KEY_LIMITS } from '@erp-proxy/contract';
import type { Client } from '@erp-proxy/control/keys';
import {
  type Admitted,
  BUSY,
  type DataRequests,
  isBoundedRoute,
  type LimitedKey,
  type Limits,
  listQuotas,
  UNLIMITED,
} from '@erp-proxy/traffic/limits';
import { Denial } from '../terms/denial.ts';
import type { KeyAdmission, Request } from '../terms/request.ts';

export interface ThrottleDeps {
  limits: Limits;
}

/** Acquires nothing if the key has no limits. */
export async function throttle(
  request: Request,
  { key, policy }: Client,
  { limits }: ThrottleDeps,
): Promise<Denial | null> {
  const held = request.made?.limits ?? 'all';
  if (policy === null || held === 'none') return null;
  if (KEY_LIMITS.every((limit) => policy.policy[limit] === undefined)) return null;
  // By client: a key that was rotated and its successor have one count, so that a rotation starts no new one.
  const limited = { id: key.clientId, policy: policy.policy };
  await limits.prepare(limited);
  const admitted = await (held === 'all' ? limits.admit(limited) : admitRunning(limits, limited));
  if (!admitted.ok) return denyLimited(admitted, 1);
  const acquired = new AcquiredLimits(limits, limited, admitted);
  request.held.defer(() => acquired.release());
  request.keyAdmission = acquired;
  return null;
}

/** Admits a request whose first call was counted before. */
async function admitRunning(limits: Limits, limited: LimitedKey): Promise<Admitted> {
  return (await limits.acquireMore(limited, 1)) === 1 ? UNLIMITED : BUSY;
}

class AcquiredLimits implements KeyAdmission {
  readonly #limits: Limits;
  readonly #key: LimitedKey;
  #admitted: Admitted;
  /** Acquired units of the key's concurrency. */
  #acquired = 1;

  constructor(limits: Limits, key: LimitedKey, admitted: Admitted) {
    this.#limits = limits;
    this.#key = key;
    this.#admitted = admitted;
  }

  async admitCalls(count: number): Promise<Denial | null> {
    if (count === 0) return null;
    const admitted = await this.#limits.admitMore(this.#key, count);
    this.#admitted = admitted;
    return admitted.ok ? null : denyLimited(admitted, count + 1);
  }

  async admitNext(): Promise<Denial | null> {
    const admitted = await this.#limits.admitMore(this.#key, 1, 1);
    this.#admitted = admitted;
    return admitted.ok ? null : denyLimited(admitted, 1);
  }

  async acquireConcurrency(wanted: number): Promise<number> {
    this.#acquired += await this.#limits.acquireMore(this.#key, wanted - this.#acquired);
    return this.#acquired;
  }

  describe(): AnswerHeaders {
    return describeQuotas(this.#admitted);
  }

  release(): void {
    this.#limits.release(this.#key, this.#acquired);
  }
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
function describeQuotas(admitted: Admitted): AnswerHeaders {
  const quotas = listQuotas(admitted);
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

/** Step: admits a request of a route that keeps records in memory, as long as few enough of them run. */
export interface AdmitDataDeps {
  dataRequests: DataRequests;
}

/** An answer with changes takes some seconds, and an export any time. */
const RETRY_AFTER_SECONDS = 5;

export function admitData({ held, made }: Request, client: Client, deps: AdmitDataDeps): Denial | null {
  const leave = enterData(client, made?.data ?? made?.via, deps);
  if (leave instanceof Denial) return leave;
  if (leave !== null) held.defer(leave);
  return null;
}

/** Returns the function that must be called at the end; null if nothing bounds the route. */
export function enterData(
  { key: { clientId } }: Client,
  route: DataRoute | CallSource | undefined,
  { dataRequests }: AdmitDataDeps,
): (() => void) | Denial | null {
  if (!isBoundedRoute(route)) return null;
  const bound = dataRequests.enter(route, clientId);
  if (bound === null) return () => dataRequests.leave(route, clientId);
  return bound === 'client' ? CLIENT_FULL : PROCESS_FULL;
}

const CLIENT_FULL = new Denial(
  'rate_limited',
  'The client runs as many requests of this route as it may at once; send this one when another has ended.',
  { retryAfterSeconds: RETRY_AFTER_SECONDS, detail: 'data.clientRequestsMax' },
);

const PROCESS_FULL = new Denial(
  'overloaded',
  `The proxy runs as many requests of this route as it has memory for; send this one again in ${RETRY_AFTER_SECONDS} s.`,
  { outcome: 'not_sent', retryAfterSeconds: RETRY_AFTER_SECONDS, detail: 'data.requestsMax' },
);
