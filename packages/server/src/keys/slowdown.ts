/**
 * Makes an address that keeps sending bad keys wait for its 401. Decides how long; the waiting is the caller's. Asked
 * only about refused keys, so a good key is never delayed, whatever else its address sent.
 *
 * The numbers are mild because nothing rests on them: a secret of 196 bits is not guessed at any speed. They keep
 * lookups, log lines and a client that retries in a loop cheap: about one answer every two seconds for each connection
 * instead of thousands. Five bad keys are free, as a person who mistypes or a deploy with an old key needs an answer
 * at once. Each failure is forgiven after 10 s, and at most 20 are held against an address: after an attack it is clean
 * in 200 s, which matters where many clients share one address.
 */
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const FREE_FAILURES = 5;
const FAILURES_MAX = 20;
const FORGIVE_MS = 10_000;
const FIRST_DELAY_MS = 250;
const DELAY_MS_MAX = 2000;
/** Some 1 MB. Who owns more addresses than this gets their first failures free again. */
const ADDRESSES_MAX = 10_000;
/** A waiting answer holds a connection; beyond this waiting protects nobody. */
const WAITING_ANSWERS_MAX = 256;

/** Either the time to wait before the 401, or that too many wait already: answer 429 `rate_limited` at once. */
export type Penalty = { delayMs: number } | { retryAfterSeconds: number };

export interface Slowdown {
  /** Counts a bad key against the address, and says what the answer to it costs. */
  penalize(address: string): Penalty;
}

/** Only differences of the clock count: hand in a monotonic one, so that setting the time changes nothing. */
export function createSlowdown({ clock }: { clock: () => number }): Slowdown {
  const records = new LRUCache<string, { failures: number; at: number }>({ max: ADDRESSES_MAX });
  let waitingUntil: number[] = [];

  function penalize(address: string): Penalty {
    const now = clock();
    const delayMs = computeDelay(countFailure(groupAddress(address), now));
    if (delayMs === 0) return { delayMs };
    if (waitingUntil.length === WAITING_ANSWERS_MAX) waitingUntil = waitingUntil.filter((end) => end > now);
    if (waitingUntil.length === WAITING_ANSWERS_MAX) return { retryAfterSeconds: DELAY_MS_MAX / 1000 };
    waitingUntil.push(now + delayMs);
    return { delayMs };
  }

  function countFailure(group: string, now: number): number {
    const before = records.get(group);
    const forgiven = before ? Math.max(0, now - before.at) / FORGIVE_MS : 0;
    const failures = Math.min(FAILURES_MAX, Math.max(0, (before?.failures ?? 0) - forgiven) + 1);
    records.set(group, { failures, at: now });
    return failures;
  }

  return { penalize };
}

function computeDelay(failures: number): number {
  if (failures <= FREE_FAILURES) return 0;
  return Math.min(DELAY_MS_MAX, Math.round(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES - 1)));
}

/** An IPv6 caller has a whole /64 to choose from (RFC 6177), so the /64 is the address; a mapped IPv4 is that IPv4. */
function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? parsed.toNormalizedString().split(':', 4).join(':') : parsed.toString();
}
