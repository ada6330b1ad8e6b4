/**
 * The login cooldown of one worker process of Odoo 14 and 15. After five consecutive failures from one address, it
 * refuses every credential that must be checked for a minute, including correct ones. Pairs of user and key that were
 * correct before are not checked again (docs/odoo-facts.md#login-cooldown).
 */
import { accessDenied, Fault } from '../orm/fault.ts';

const FAILURES_MAX = 5;
const COOLDOWN_MS = 60_000;

export class LoginCooldown {
  readonly #clock: () => number;
  readonly #failures = new Map<string, { count: number; lastAt: number }>();
  readonly #known = new Set<string>();

  /** `clock`: returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Runs a check that rejects or returns undefined for wrong credentials. `pair` identifies the credentials; null: the
   * result is not remembered.
   */
  async guard<Value>(address: string, pair: string | null, check: () => Promise<Value>): Promise<Value> {
    if (pair !== null && this.#known.has(pair)) return check();
    const { count, lastAt } = this.#failures.get(address) ?? { count: 0, lastAt: 0 };
    if (count >= FAILURES_MAX && this.#clock() - lastAt < COOLDOWN_MS)
      throw accessDenied('Too many login failures, please wait a bit before trying again.');
    try {
      const value = await check();
      if (value === undefined && pair === null) this.#count(address);
      else {
        this.#failures.delete(address);
        if (pair !== null) this.#known.add(pair);
      }
      return value;
    } catch (error) {
      if (error instanceof Fault && error.name === 'odoo.exceptions.AccessDenied') this.#count(address);
      throw error;
    }
  }

  /** Forgets all pairs, as when a user is written. */
  forget(): void {
    this.#known.clear();
  }

  /** Restores the state of a new worker process. */
  clear(): void {
    this.#failures.clear();
    this.#known.clear();
  }

  #count(address: string): void {
    const { count } = this.#failures.get(address) ?? { count: 0 };
    this.#failures.set(address, { count: count + 1, lastAt: this.#clock() });
  }
}
