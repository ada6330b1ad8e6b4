/**
 * Remembers for a short time which credentials Odoo refused, so that a storm of bad keys does not reach it: each costs
 * some 330 ms of a worker, and Odoo has no lockout there (FACTS 4.6). Of credentials that it has not seen yet one call
 * goes ahead and the others wait a moment for its verdict. It knows them by name only
 * (credentials-id.ts).
 */
import { LRUCache } from 'lru-cache';
import type { EndSignal } from '../egress/dispatcher.ts';

/** What an answer of Odoo said about the credentials; `unknown` where it did not get so far. */
export type Verdict = 'accepted' | 'refused' | 'unknown';

export interface CredentialMemory {
  /**
   * `refused`: Odoo said no lately. Otherwise the call may go, and must call `settle` with what came of it. Where the
   * credentials are being tried by another call, its verdict is waited for, until the signal ends.
   */
  check(credentialsId: string, signal: EndSignal): Ticket | 'refused' | Promise<Ticket | 'refused'>;
}

export interface Ticket {
  settle(verdict: Verdict): void;
}

const REMEMBERED_MAX = 10_000;
/** A refused key takes Odoo a third of a second; a call that takes longer than this has been let in. */
const WAIT_MS_MAX = 1000;

/** `refusedTtlMs` 0 turns the memory off. `nowMs` is a monotonic clock in milliseconds. */
export function createCredentialMemory(refusedTtlMs: number, nowMs: () => number): CredentialMemory {
  if (refusedTtlMs === 0) return { check: () => ({ settle() {} }) };
  const verdicts = new LRUCache<string, 'accepted' | 'refused'>({
    max: REMEMBERED_MAX,
    // The clock is asked each time: the library's own copy of it is renewed by a real timer.
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  const trials = new Map<string, Trial>();

  function check(id: string, signal: EndSignal): ReturnType<CredentialMemory['check']> {
    const verdict = verdicts.get(id);
    if (verdict === 'refused') return 'refused';
    if (verdict === 'accepted') return { settle: (news) => doubt(id, news) };
    const trial = trials.get(id);
    return trial === undefined ? startTrial(id) : waitFor(trial, id, signal);
  }

  /**
   * Methods raise AccessDenied too (a wrong old password in `change_password`), which says nothing about credentials that
   * Odoo has accepted before: the next call puts them on trial.
   */
  function doubt(id: string, news: Verdict): void {
    if (news === 'refused' && verdicts.get(id) === 'accepted') verdicts.delete(id);
  }

  function startTrial(id: string): Ticket {
    const trial = new Trial();
    trials.set(id, trial);
    return {
      settle(news) {
        learn(id, news);
        if (trials.get(id) === trial) trials.delete(id);
        trial.end();
      },
    };
  }

  async function waitFor(trial: Trial, id: string, signal: EndSignal): Promise<Ticket | 'refused'> {
    await trial.wait(WAIT_MS_MAX, signal);
    return verdicts.get(id) === 'refused' ? 'refused' : { settle: (news) => learn(id, news) };
  }

  function learn(id: string, news: Verdict): void {
    if (news === 'refused') verdicts.set(id, news, { ttl: refusedTtlMs });
    // A refusal that another call met meanwhile is newer: a key can be revoked while calls run.
    else if (news === 'accepted' && !verdicts.has(id)) verdicts.set(id, news);
  }

  return { check };
}

class Trial {
  readonly #waiting: (() => void)[] = [];

  wait(timeoutMs: number, signal: EndSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const timer = setTimeout(settle, timeoutMs);
      signal.addEventListener('abort', settle);
      this.#waiting.push(settle);
    });
  }

  end(): void {
    for (const settle of this.#waiting) settle();
  }
}
