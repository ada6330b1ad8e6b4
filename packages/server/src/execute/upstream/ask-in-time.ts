/** Asks the store for something without which a call must not be sent. */
import { ABORTED, TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { askStore, denyStoreAway } from '../terms/ask-store.ts';
import type { CallContext } from '../terms/call-context.ts';
import type { Denial } from '../terms/denial.ts';
import { denyEndedUnsent } from '../terms/upstream-denials.ts';

export interface AskInTimeOptions {
  context: CallContext;
  /** Maximum wait for the store, in milliseconds. */
  waitMs: number;
  /** Called if the store answers after the wait. */
  onLate?: (() => void) | undefined;
}

/** If the store does not answer, the call is not sent. */
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
