/** Subjects of identity providers whose tokens are refused. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { KeyStore } from './keys.ts';

/** A subject of an identity provider whose tokens are refused. */
export interface DeniedSubject {
  /** Id of the client: `<issuer>/<subject>`. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly deniedAt: number;
}

/** The audit record `auditBatch` is appended as in {@link KeyStore}. */
export interface DeniedSubjectStore {
  /** False if the subject was denied already: its `deniedAt` stays. */
  deny(subject: DeniedSubject, auditBatch?: AuditBatch): Promise<boolean>;
  /** False if the subject is not denied. */
  allow(id: string, auditBatch?: AuditBatch): Promise<boolean>;
  find(id: string): Promise<DeniedSubject | null>;
  /** Which of these are denied. In any order. */
  findAll(ids: readonly string[]): Promise<DeniedSubject[]>;
  /** At most `limit` subjects after this id, ordered by the code points of their ids. Null: begins with the first. */
  list(after: string | null, limit: number): Promise<DeniedSubject[]>;
}
