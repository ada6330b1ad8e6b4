/** Reads from the store before anything of a call is sent. An error of the store becomes a denial. */
import { Denial } from './denial.ts';

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
export function denyStoreAway(detail: string): Denial {
  return new Denial('overloaded', "The proxy's store does not answer; send the call again in a moment.", {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail: `store: ${detail}`,
  });
}
