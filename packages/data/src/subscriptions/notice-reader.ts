/**
 * The interface through which subscriptions get notices of client keys that end. Implemented in keys/expiry-notices.ts.
 */

/** A notice of a client key that ends soon, or has ended within the last day. */
export interface KeyNotice {
  /** Identifies the notice in every process: id of the key, its end, and the days between notice and end. */
  readonly notice: string;
  readonly kind: 'expiring' | 'expired';
  readonly keyId: string;
  readonly clientId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NoticeReader {
  /** The latest notice of each key that ends soon or has ended. Null: notices are off. Rejects if the store fails. */
  listDue(): Promise<readonly KeyNotice[] | null>;
}
