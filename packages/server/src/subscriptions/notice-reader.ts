/** The interface through which subscriptions learn of client keys that end. Implemented in keys/expiry-notices.ts. */

/** A notice of a client key that ends soon, or has ended within the last day. */
export interface KeyNotice {
  /** Unique, and the same in every process: the key, its end, and how long before. */
  readonly notice: string;
  readonly kind: 'expiring' | 'expired';
  readonly keyId: string;
  readonly clientId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NoticeReader {
  /** The last notice of each key that ends. Null: no notices are given. Rejects if the store fails. */
  listDue(): Promise<readonly KeyNotice[] | null>;
}
