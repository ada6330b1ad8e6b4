/** Asks the store for what a call needs. Nothing was sent yet, whatever is wrong with it. */
import type { Awaitable } from '../../stores/ports.ts';
import { Denial } from './denial.ts';

const RETRY_AFTER_SECONDS = 5;

/** Errors of this class say what is wrong with the row: the operator's to mend. Others mean that the store is away. */
export interface RowFault {
  Fault: abstract new (...given: never[]) => Error;
  /** For the caller: what cannot be had, without an end mark. */
  message: string;
}

export async function askStore<Value>(
  ask: () => Awaitable<Value>,
  fault?: RowFault,
): Promise<Value | Denial> {
  try {
    return await ask();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (fault !== undefined && error instanceof fault.Fault) {
      const advice = 'tell its operator the x-request-id of this answer. Nothing was sent to Odoo.';
      return new Denial('internal', `${fault.message}; ${advice}`, { detail });
    }
    return denyStoreAway(detail);
  }
}

/** Of a store that fails or takes too long; `detail` is for the log. */
export function denyStoreAway(detail: string): Denial {
  return new Denial('overloaded', "The proxy's store does not answer; send the call again in a moment.", {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail: `store: ${detail}`,
  });
}
