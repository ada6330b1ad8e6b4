/**
 * Delays the 401 for an address that keeps sending invalid keys. Computes the delay; the caller waits. Only refused
 * keys are counted, so that a valid key is never delayed, whatever else its address sent.
 *
 * The limits are mild, because security does not depend on them: a secret of 196 bits cannot be guessed at any rate.
 * They limit the cost of lookups, log lines and clients that retry in a loop: about one answer every two seconds for
 * each connection instead of thousands. Five invalid keys are free: a person who mistypes, or a deployment with an old
 * key, needs an answer at once. Each failure expires after 10 s, and at most 20 count for an address. So an address is
 * free of failures 200 s after an attack, which matters if many clients share it.
 */

import { atMost } from '@erp-proxy/async/tasks';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const FREE_FAILURES = 5;
const FAILURES_MAX = 20;
const FORGIVE_MS = 10_000;
const FIRST_DELAY_MS = 250;
const DELAY_MS_MAX = 2000;
/** Maximum number of addresses: about 1 MB. A client with more addresses than this gets its free failures again. */
const ADDRESSES_MAX = 10_000;
/** Maximum number of delayed answers. Each occupies a connection: with more, delays protect nothing. */
const WAITING_ANSWERS_MAX = 256;

/**
 * The delay before the 401. If too many answers wait already, the value of `retry-after` for an immediate 429
 * `rate_limited`.
 */
export type Penalty = { delayMs: number } | { retryAfterSeconds: number };

export interface Slowdown {
  /** Counts an invalid key for the address, and returns the delay of its answer. */
  penalize(address: string): Penalty;
}

/** `clock` must be monotonic, so that setting the time has no effect. */
export function createSlowdown({ clock }: { clock: () => number }): Slowdown {
  const records = new LRUCache<string, { failures: number; at: number }>(atMost(ADDRESSES_MAX));
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

/**
 * Groups addresses. An IPv6 caller can choose from a whole /64 (RFC 6177), so the /64 counts as one address. An
 * IPv4-mapped address counts as its IPv4 address.
 */
export function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? parsed.toNormalizedString().split(':', 4).join(':') : parsed.toString();
}
