/** Says why a call was not sent if a question to its server, which had to be answered first, has failed. */
import { Denial } from '../terms/denial.ts';
import type { FaultReply } from '../terms/reply.ts';
import { CHANGED } from '../terms/upstream-denials.ts';

/** Whether another attempt can succeed. */
export function isPassing(failed: FaultReply | Denial): boolean {
  return failed instanceof Denial || failed.fault.data.retryable;
}

/** `text` says what was needed, and that nothing was sent. A call that must start over does so. */
export function explainFailure(failed: FaultReply | Denial, text: string): FaultReply | Denial {
  if (failed === CHANGED) return failed;
  if (failed instanceof Denial) {
    const more = { ...failed.more, outcome: 'not_sent' as const };
    return new Denial(failed.type, `${text} ${failed.message}`, more);
  }
  return { ...failed, fault: { ...failed.fault, message: `${text} ${failed.fault.message}` } };
}
