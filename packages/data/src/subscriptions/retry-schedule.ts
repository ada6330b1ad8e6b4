/** Decides when a delivery that failed is sent again, and when its subscription is disabled. Pure. */

import type {
  AttemptOutcome,
  ClaimedDelivery,
  DeliveryResult,
  StoredSubscription,
} from '@erp-proxy/stores/ports';
import { readHttpDate } from '@erp-proxy/text';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/**
 * Delay before each further attempt. The first delays suit a receiver that restarts: each is about as long as the
 * receiver has been away. The later ones are those that Standard Webhooks advises.
 */
export const RETRY_DELAYS_SECONDS: readonly number[] = [
  5,
  10,
  20,
  40,
  80,
  160,
  5 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const RETRY_DELAY_SECONDS_MAX = 24 * HOUR;
/** Maximum fraction that is added to a delay, so that retries do not always coincide. */
const JITTER = 0.1;
export const LONGEST_DELAY_SECONDS = RETRY_DELAY_SECONDS_MAX * (1 + JITTER);
const DISABLED_AFTER_SECONDS = 5 * DAY;
/** Minimum number of failures, so that a clock that jumps ahead does not disable a subscription. */
const FAILURES_BEFORE_DISABLED_MIN = RETRY_DELAYS_SECONDS.length;
/** Number of consecutive failures from which the receiver counts as unavailable, and not one delivery as the cause. */
const AWAY_FAILURES = 3;

/** The outcome of one attempt to send a delivery. */
export interface Attempt {
  delivery: ClaimedDelivery;
  isTaken: boolean;
  /** True: the receiver wants no more deliveries (status 410). */
  isGone: boolean;
  status: number | null;
  /** Null if the receiver took the delivery. */
  failure: string | null;
  /** Delay that the header `retry-after` asks for; null: the header is missing or cannot be read. */
  retryAfterSeconds: number | null;
  durationMs: number;
}

export interface Checking {
  now: number;
  /** Returns a number from 0 to below 1. */
  random: () => number;
  /** Duration of one second of the delays. Tests set a shorter one. */
  secondMs: number;
}

/** Computes the changes that the attempts of one claim cause. */
export function checkAttempts(
  subscription: StoredSubscription,
  attempts: readonly Attempt[],
  checking: Checking,
): AttemptOutcome {
  const { now } = checking;
  const isTaken = attempts.some((attempt) => attempt.isTaken);
  const failed = attempts.filter((attempt) => !attempt.isTaken);
  const failures = isTaken ? 0 : subscription.failures + 1;
  const failingSince = isTaken ? null : Math.min(subscription.failingSince ?? now, now);
  const delayMs = isTaken ? 0 : findDelayMs(failures, failed, checking);
  const gone = attempts.find((attempt) => attempt.isGone);
  const lastFailure = failed.at(-1)?.failure ?? null;
  return {
    now,
    results: attempts.map((attempt) => checkAttempt(attempt, checking)),
    failures,
    failingSince,
    retryAt: isTaken ? null : now + delayMs,
    lastFailure: lastFailure ?? subscription.lastFailure,
    deliveredAt: isTaken ? now : subscription.deliveredAt,
    wakesAll: isTaken && subscription.failures >= AWAY_FAILURES,
    disables:
      gone === undefined ? explainDisabled(failures, failingSince, lastFailure, checking) : GONE_REASON,
  };
}

const GONE_REASON = 'The receiver answered 410 Gone: it wants no more deliveries.';

function explainDisabled(
  failures: number,
  failingSince: number | null,
  lastFailure: string | null,
  { now, secondMs }: Checking,
): string | null {
  if (failingSince === null || now - failingSince < DISABLED_AFTER_SECONDS * secondMs) return null;
  if (failures < FAILURES_BEFORE_DISABLED_MIN) return null;
  return `The receiver took nothing for five days; the last reason: ${lastFailure}`;
}

function checkAttempt(attempt: Attempt, checking: Checking): DeliveryResult {
  const { now } = checking;
  const { delivery, isTaken, isGone, status, failure, durationMs } = attempt;
  // The status 410 says nothing about this delivery: after a resume it is sent again.
  const isLast = !isGone && delivery.attempts > RETRY_DELAYS_SECONDS.length;
  return {
    id: delivery.id,
    state: isTaken ? 'delivered' : isLast ? 'failed' : 'waiting',
    nextAt: isTaken ? now : now + findDelayMs(delivery.attempts, [attempt], checking),
    status,
    failure,
    durationMs: Math.round(durationMs),
  };
}

function findDelayMs(failures: number, failed: readonly Attempt[], { random, secondMs }: Checking): number {
  const index = Math.min(failures, RETRY_DELAYS_SECONDS.length) - 1;
  const delaySeconds = (RETRY_DELAYS_SECONDS[index] ?? 0) * (1 + JITTER * random());
  const askedSeconds = Math.max(0, ...failed.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0));
  return Math.round(Math.max(delaySeconds, Math.min(askedSeconds, RETRY_DELAY_SECONDS_MAX)) * secondMs);
}

/** Reads the delay in `retry-after`: seconds or a date (RFC 9110 section 10.2.3). Null if it is neither. */
export function readRetryAfterSeconds(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const date = readHttpDate(text);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
}
