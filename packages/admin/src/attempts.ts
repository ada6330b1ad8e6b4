/** Bounds how often persons may try keys of Odoo that are refused. In memory, for one process. */
import { atMost } from '@erp-proxy/async/tasks';
import type { Examination } from '@erp-proxy/contract';
import { LRUCache } from 'lru-cache';
import { AdminError, describeProblem } from './admin-error.ts';

const ATTEMPTS_MAX = 10;
const ATTEMPTS_MS = 600_000;
const PERSONS_MAX = 10_000;
/**
 * Odoo 14 and 15 refuse everybody at the address of the proxy after five wrong keys
 * (docs/odoo-facts.md#login-cooldown). Calls with wrong keys count there, too.
 */
const LOCKING_ATTEMPTS_MAX = 3;
const LOCKING_MS = 900_000;
const LOCKING_VERSION_MAX = 15;
const SERVERS_MAX = 1_000;

/**
 * Bounds the checks of keys that do not succeed: of one person, because each refused key costs Odoo a third of a second
 * (docs/odoo-facts.md#wrong-key-cost), and at one server that can lock the proxy out, of all persons together.
 */
export class Attempts {
  readonly #nowMs: () => number;
  readonly #times = new LRUCache<string, number[]>(atMost(PERSONS_MAX));
  /** By the address of the server. A check that runs counts as one that fails. */
  readonly #refusals = new LRUCache<string, number[]>(atMost(SERVERS_MAX));
  /** Servers that are known not to lock anybody out. */
  readonly #harmless = new LRUCache<string, true>(atMost(SERVERS_MAX));

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Counts a check. Throws an AdminError if there were too many. Returns a function that takes what was found; null:
   * nothing.
   */
  begin(person: string, server: string): (found: Examination | null) => void {
    const now = this.#nowMs();
    const own = listRecent(this.#times.get(person), now - ATTEMPTS_MS);
    refuseMany(own, ATTEMPTS_MAX, ATTEMPTS_MS, now, 'Too many keys that Odoo did not accept');
    const refusals = listRecent(this.#refusals.get(server), now - LOCKING_MS);
    if (!this.#harmless.has(server)) {
      const text =
        'Too many keys that this Odoo did not accept, from any person. It would soon refuse everybody';
      refuseMany(refusals, LOCKING_ATTEMPTS_MAX, LOCKING_MS, now, text);
    }
    this.#times.set(person, [...own, now]);
    this.#refusals.set(server, [...refusals, now]);
    return (found) => {
      const failed = found && findFailed(found);
      if (found !== null && failed === null) this.#times.delete(person);
      if (Number.parseInt(found?.version ?? '', 10) > LOCKING_VERSION_MAX) this.#harmless.set(server, true);
      if (failed?.name === 'user' || failed?.name === 'key') return;
      const others = [...(this.#refusals.get(server) ?? [])];
      const place = others.indexOf(now);
      if (place !== -1) others.splice(place, 1);
      this.#refusals.set(server, others);
    };
  }
}

function listRecent(times: readonly number[] | undefined, since: number): number[] {
  return times?.filter((at) => at > since) ?? [];
}

/** Throws an AdminError if there are as many times as this. */
function refuseMany(times: readonly number[], max: number, forMs: number, now: number, text: string): void {
  if (times.length < max) return;
  throw new AdminError(describeProblem(429, `${text}: wait before you try again.`), {
    retryAfterSeconds: Math.ceil((times[0]! + forMs - now) / 1000),
  });
}

/** The first failed check; null: none has failed. */
export function findFailed({ checks }: Examination) {
  return checks.find(({ state }) => state === 'failed') ?? null;
}
