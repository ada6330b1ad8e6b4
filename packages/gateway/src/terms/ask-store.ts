/** Reads from the store before anything of a call is sent. An error of the store becomes a denial. */

import { ABORTED, TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import type { CallContext } from './call-context.ts';
import { Denial } from './denial.ts';
import { denyEndedUnsent } from './upstream-denials.ts';

const RETRY_AFTER_SECONDS = 5;

/** Errors of this class are about the row, which the operator must correct. All others mean that the store fails. */
export interface RowError {
  ErrorClass: abstract new (...given: never[]) => Error;
  /** Text for the caller that says what cannot be used, without a full stop. */
  message: string;
}

export async function askStore<Value>(
  ask: () => Promise<Value>,
  rowError?: RowError,
): Promise<Value | Denial> {
  try {
    return await ask();
  } catch (error) {
    return denyError(error, rowError);
  }
}

function denyError(error: unknown, rowError: RowError | undefined): Denial {
  const detail = error instanceof Error ? error.message : String(error);
  if (rowError !== undefined && error instanceof rowError.ErrorClass) {
    const advice = 'tell its operator the x-request-id of this answer. Nothing was sent to Odoo.';
    return new Denial('internal', `${rowError.message}; ${advice}`, { detail });
  }
  return denyStoreAway(detail);
}

/** The denial if the store fails or is too slow; `detail` is for the log. */
function denyStoreAway(detail: string): Denial {
  return new Denial('overloaded', "The proxy's store does not answer; send the call again in a moment.", {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail: `store: ${detail}`,
  });
}

export interface AskInTimeOptions {
  context: CallContext;
  /** Maximum wait for the store, in milliseconds. */
  waitMs: number;
  /** Called if the store answers after the wait. */
  onLate?: (() => void) | undefined;
}

/** Asks the store for something without which a call must not be sent. */
export async function askInTime<Value>(
  ask: () => Promise<Value>,
  { context, waitMs, onLate }: AskInTimeOptions,
): Promise<Value | Denial> {
  const { deadline, signal } = context.time;
  const asked = askStore(ask);
  const known = await waitFor(asked, { signal, timeoutMs: waitMs });
  if (known !== ABORTED && known !== TIMED_OUT) return known;
  void asked.then(onLate, () => {});
  if (known === TIMED_OUT) return denyStoreAway('no answer in time');
  return denyEndedUnsent(deadline, { isReadOnly: false });
}
