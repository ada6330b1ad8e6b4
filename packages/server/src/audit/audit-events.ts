/** The events that become audit records. */
import type { EventHandlers } from '../observe/events.ts';
import type { Audit } from './audit.ts';

/** Requests refused before authentication (`requestsShed`) are not recorded, because their sender is not known. */
export function auditEvents(audit: Pick<Audit, 'recordCall' | 'recordRefusal'>): EventHandlers {
  return {
    callEnded: (record) => audit.recordCall(record),
    requestRefused: (record) => audit.recordRefusal(record),
  };
}
