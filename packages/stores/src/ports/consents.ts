/** Consents of persons to applications. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { KeyStore } from './keys.ts';

/** An application may act as a person. Times are milliseconds since 1970. */
export interface StoredConsent {
  readonly id: string;
  /** `<issuer>/<subject>` */
  readonly person: string;
  /** Id of the application. */
  readonly application: string;
  /** Hash of the session at the provider in which the person agreed; null: not known. */
  readonly providerSession: string | null;
  readonly createdAt: number;
  /** When a token was issued for the last time. */
  readonly usedAt: number;
  readonly expiresAt: number;
  /** JSON text of all other members. Only consents/ knows its shape. */
  readonly body: string;
}

export interface ConsentListQuery {
  /** The last consent of the page before; null: begins with the first. */
  after: Pick<StoredConsent, 'person' | 'id'> | null;
  limit: number;
  person?: string | undefined;
  providerSession?: string | undefined;
}

/** The audit record `auditBatch` is appended as in {@link KeyStore}. */
export interface ConsentStore {
  /** Inserts the consent. If its person then has more than `personMax`, the oldest ones are removed. */
  insert(consent: StoredConsent, personMax: number, auditBatch?: AuditBatch): Promise<void>;
  find(id: string): Promise<StoredConsent | null>;
  /** At most `limit` consents, ordered by the code points of person and id. */
  list(query: ConsentListQuery): Promise<StoredConsent[]>;
  /** Replaces the body. False if there is no such consent. */
  update(id: string, body: string): Promise<boolean>;
  /** Replaces `usedAt`. Does nothing if there is no such consent. */
  touch(id: string, usedAt: number): Promise<void>;
  /** Removes the consent, with what belongs to it in {@link SignInObjectStore}. False if there is none. */
  remove(id: string, auditBatch?: AuditBatch): Promise<boolean>;
  /** Removes all consents of a person, or those of a session at the provider. Returns their number. */
  removeOf(whose: { person: string } | { providerSession: string }): Promise<number>;
  /** Removes at most `limit` consents that have expired before `now`. Returns their number. */
  prune(now: number, limit: number): Promise<number>;
}

/**
 * What the authorization server keeps for a time: codes and refresh tokens, registered applications, its signing keys,
 * and what it must know while a person signs in.
 */
export interface SignInObject {
  readonly kind: string;
  /** Hashed, if it is a secret. */
  readonly id: string;
  /** The consent to which it belongs, and with which it ends; null: none. */
  readonly consent: string | null;
  /** Sealed, if it has secrets. */
  readonly body: string;
  /** When it was used; null: not yet. */
  readonly consumedAt: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface SignInObjectStore {
  /**
   * Inserts the object, or replaces the one with this kind and id. If there are more than `max` of the kind then, the
   * ones that expire first are removed. Null: any number. False if its consent is missing.
   */
  put(object: SignInObject, max: number | null): Promise<boolean>;
  /** Also finds objects that have expired. */
  find(kind: string, id: string): Promise<SignInObject | null>;
  /** All objects of a kind, the oldest first. Only for kinds with few objects. */
  list(kind: string): Promise<SignInObject[]>;
  /** Marks the object as used, and lets it expire at `keptUntil`. False if it was used before, or is missing. */
  consume(kind: string, id: string, at: number, keptUntil: number): Promise<boolean>;
  /** Changes when the object expires. Does nothing if it is missing. */
  extend(kind: string, id: string, expiresAt: number): Promise<void>;
  remove(kind: string, id: string): Promise<void>;
  /** Removes at most `limit` objects that have expired before `now`. Returns their number. */
  prune(now: number, limit: number): Promise<number>;
}
