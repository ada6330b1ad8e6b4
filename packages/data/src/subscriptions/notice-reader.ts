/**
 * The interfaces through which subscriptions get events of the proxy: notices of client keys that end (implemented by
 * `createExpiryNotices`), and jobs that have ended (implemented by `createJobs`).
 */
import type { Job } from '@erp-proxy/contract';

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

/** A job that has ended. */
export interface JobNotice {
  readonly clientId: string;
  /** As its caller sees it. */
  readonly job: Job;
}

export interface JobNoticeReader {
  /**
   * At most `max` jobs that have ended and whose callers have named the subscription with this id, in any order.
   * Rejects if the store fails.
   */
  listUnreported(subscription: string, max: number): Promise<readonly JobNotice[]>;
}

export interface NoticeReader {
  /** The latest notice of each key that ends soon or has ended. Null: notices are off. Rejects if the store fails. */
  listDue(): Promise<readonly KeyNotice[] | null>;
}
