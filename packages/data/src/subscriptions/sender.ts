/** Sends one delivery to its receiver, and checks the answer. Stores nothing. */

import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import type { EgressAnswer, EgressDispatcher, EgressFailure } from '@erp-proxy/egress';
import type { ClaimedDelivery } from '@erp-proxy/stores/ports';
import { type Attempt, readRetryAfterSeconds } from './retry-schedule.ts';
import { sign } from './secrets.ts';

export interface SenderDeps {
  egress: Pick<EgressDispatcher, 'send'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Version in the header `user-agent`. */
  version: string;
  /** Time limit from the start to the head of the answer. */
  timeoutMs: number;
}

export interface Sending {
  url: string;
  /** The secrets for the signatures, opened. */
  secrets: readonly string[];
  delivery: ClaimedDelivery;
  signal: AbortSignal;
  /** Called right before the first byte is sent. False: the delivery must not be sent. */
  maySend: () => boolean;
}

/**
 * Sends a delivery. Null: `maySend` or the signal stopped it, or this process had no free connection. The claim then
 * ends by its time.
 */
export type SendDelivery = (sending: Sending) => Promise<Attempt | null>;

/** Limits for the body of an answer, which is read only so that the connection can be used again. */
const BODY_MS_MAX = 1000;
const BODY_BYTES_MAX = 16 * 1024;

export function createSender({ egress, clock, nowMs, version, timeoutMs }: SenderDeps): SendDelivery {
  return async ({ url, secrets, delivery, signal, maySend }) => {
    const startedMs = nowMs();
    const timestamp = Math.floor(clock() / 1000);
    const { id, body } = delivery;
    const { origin, pathname, search } = new URL(url);
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, timeoutMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    try {
      const answer = await egress.send(
        {
          method: 'POST',
          origin,
          path: pathname + search,
          headers: {
            'content-type': 'application/json',
            'user-agent': `erp-proxy/${version}`,
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': sign(secrets, { id, timestamp, body }),
          },
          body: Buffer.from(body),
        },
        { signal: ending.signal, maySend },
      );
      clearTimeout(timer);
      if (!answer.ok && (UNSENT.has(answer.reason) || signal.aborted)) return null;
      if (answer.ok) await drain(answer);
      return { delivery, durationMs: nowMs() - startedMs, ...check(answer, timeoutMs, clock()) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };
}

/** Failures that say nothing about the receiver. */
const UNSENT: ReadonlySet<EgressFailure['reason']> = new Set(['withdrawn', 'exhausted']);

function check(
  answer: EgressAnswer | EgressFailure,
  timeoutMs: number,
  now: number,
): Omit<Attempt, 'delivery' | 'durationMs'> {
  if (!answer.ok) {
    const failure = explainFailure(answer, timeoutMs);
    return { isTaken: false, isGone: false, status: null, failure, retryAfterSeconds: null };
  }
  const { status, headers } = answer;
  const isTaken = status >= 200 && status < 300;
  const header = headers['retry-after'];
  return {
    isTaken,
    isGone: status === 410,
    status,
    failure: isTaken ? null : explainStatus(status),
    retryAfterSeconds: isTaken
      ? null
      : readRetryAfterSeconds(typeof header === 'string' ? header : header?.[0], now),
  };
}

function explainStatus(status: number): string {
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}, and redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

function explainFailure({ reason, detail }: EgressFailure, timeoutMs: number): string {
  switch (reason) {
    case 'denied':
      return `The address may not be reached: ${detail}.`;
    case 'unresolved':
      return 'The name of the receiver does not resolve.';
    case 'refused':
      return 'The receiver refused the connection.';
    case 'tls':
      return `TLS to the receiver failed: ${detail}.`;
    case 'connect_timeout':
      return 'The receiver did not take the connection in time.';
    case 'aborted':
    case 'first_byte_timeout':
      return `The receiver did not answer within ${Math.round(timeoutMs / 1000)} s.`;
    case 'bad_response':
      return 'The receiver did not answer in HTTP.';
    default:
      return 'The receiver closed the connection without an answer.';
  }
}

/** Reads the rest of a short answer, and drops a longer or slower one with its connection. */
async function drain({ body }: EgressAnswer): Promise<void> {
  const read = async () => {
    let bytes = 0;
    for (let piece = await body.next(); piece !== null; piece = await body.next()) {
      bytes += piece.length;
      if (bytes > BODY_BYTES_MAX) return body.cancel();
    }
  };
  const reading = read().catch(() => {});
  if ((await waitFor(reading, { timeoutMs: BODY_MS_MAX })) === TIMED_OUT) body.cancel();
}
