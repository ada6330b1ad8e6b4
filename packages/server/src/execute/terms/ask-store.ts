/** Reads from the store before anything of a call is sent. An error of the store becomes a denial. */
import type { Awaitable } from '../../stores/ports.ts';
import { Denial } from './denial.ts';

const RETRY_AFTER_SECONDS = 5;

/** Errors of this class are about the row, which the operator must correct. All others mean that the store fails. */
export interface RowError {
  ErrorClass: abstract new (...given: never[]) => Error;
  /** Text for the caller that says what cannot be used, without a full stop. */
  message: string;
}

/** Synchronous if `ask` is. */
export function askStore<Value>(ask: () => Awaitable<Value>, rowError?: RowError): Awaitable<Value | Denial> {
  try {
    const asked = ask();
    return asked instanceof Promise ? asked.catch((error: unknown) => denyError(error, rowError)) : asked;
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
export function denyStoreAway(detail: string): Denial {
  return new Denial('overloaded', "The proxy's store does not answer; send the call again in a moment.", {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail: `store: ${detail}`,
  });
}
