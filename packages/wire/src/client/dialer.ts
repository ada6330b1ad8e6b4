/** What all connections of a sender share: time limits, sockets to be used again, and the set of those that exist. */
import { type Indexed, IndexedSet } from '@erp-proxy/async/tasks';
import { ClosedSockets } from './reusable-socket.ts';

export interface DialerOptions {
  /** Time limit for DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  /**
   * Time limit from the last byte of the request to the head of the answer; null: only the signal of the request
   * applies.
   */
  firstByteTimeoutMs: number | null;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** A connection, as its dialer sees it. */
export interface DialledConnection extends Indexed {
  close(): void;
}

export class Dialer {
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number | null;
  readonly nowMs: () => number;
  /** Plain sockets to be used again. */
  readonly closedSockets = new ClosedSockets();
  /** Those that are open or being opened. */
  readonly connections = new IndexedSet<DialledConnection>();

  constructor({ connectTimeoutMs, firstByteTimeoutMs, nowMs }: DialerOptions) {
    this.connectTimeoutMs = connectTimeoutMs;
    this.firstByteTimeoutMs = firstByteTimeoutMs;
    this.nowMs = nowMs;
  }

  /** Aborts running requests and closes every connection. */
  close(): void {
    for (const connection of this.connections.toArray()) connection.close();
  }
}
