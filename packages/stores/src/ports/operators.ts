/** Persons who have signed in by the identity provider of operators. Part of the interface of a store (store.ts). */

import type { AuditBatch } from './audit.ts';
import type { KeyStore } from './keys.ts';

/** Times are milliseconds since 1970. */
export interface OperatorRecord {
  /** `<operators.name>/<subject>` */
  readonly id: string;
  readonly name: string;
  /** JSON text of the claims that rules ask for; null: at the last sign-in or renewal, no rule matched. */
  readonly granted: string | null;
  /** When the provider has confirmed the person for the last time. */
  readonly confirmedAt: number;
  /** Sessions that began at this time or before are ended; 0: none are. */
  readonly endedUntil: number;
}

export interface OperatorStore {
  /** Inserts the person, or replaces all but `endedUntil`. */
  confirm(person: Omit<OperatorRecord, 'endedUntil'>): Promise<void>;
  /** Takes away what was granted. Does nothing for an unknown person. */
  withdraw(id: string): Promise<void>;
  /**
   * Ends the sessions that began at this time or before. False for an unknown person, who has none. The audit record is
   * appended as in {@link KeyStore}.
   */
  endSessions(id: string, until: number, auditBatch?: AuditBatch): Promise<boolean>;
  /** Records the end of a session; `keptUntil`: when the session would have ended. Removes records older than `now`. */
  endSession(end: {
    readonly session: string;
    readonly keptUntil: number;
    readonly now: number;
  }): Promise<void>;
  /** True if one of these sessions has ended. */
  hasEnded(sessions: readonly string[]): Promise<boolean>;
  find(id: string): Promise<OperatorRecord | null>;
  /** At most `limit` persons after this id, ordered by the code points of their ids. Null: begins with the first. */
  list(after: string | null, limit: number): Promise<OperatorRecord[]>;
}
