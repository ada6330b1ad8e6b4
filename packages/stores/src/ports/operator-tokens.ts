/** Personal tokens of operators. Part of the interface of a store (store.ts). */
import type { Role } from '@erp-proxy/contract';
import type { AuditBatch } from './audit.ts';
import type { KeyStore } from './keys.ts';

/** The public part of a token. Times are milliseconds since 1970. */
export interface OperatorToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** JSON text of the patterns of the instances that it is limited to; null: all. */
  readonly instances: string | null;
  readonly createdAt: number;
  /** JSON text of the actor. */
  readonly createdBy: string;
  /** First moment at which the token no longer works; null: it never expires. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Accurate to about a minute. */
  readonly lastUsedAt: number | null;
}

export interface StoredOperatorToken extends OperatorToken {
  /** HMAC-SHA256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
}

/** The audit record `auditBatch` is appended as in {@link KeyStore}. */
export interface OperatorTokenStore {
  /** Fails if the id is taken. */
  insert(token: StoredOperatorToken, auditBatch?: AuditBatch): Promise<void>;
  findById(id: string): Promise<StoredOperatorToken | null>;
  /** At most `limit` tokens after this one, ordered by `createdAt`, then `id`. Null: begins with the first. */
  list(after: Pick<OperatorToken, 'createdAt' | 'id'> | null, limit: number): Promise<OperatorToken[]>;
  /** False if there is no such token, or it is revoked already: it then keeps its time of revocation. */
  revoke(id: string, revokedAt: number, auditBatch?: AuditBatch): Promise<boolean>;
  /** Sets `lastUsedAt` of these ids to later times, never to earlier ones. Skips unknown ids. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
}
