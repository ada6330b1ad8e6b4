/**
 * Limits client connections, so that file descriptors are left for connections to Odoo, for the store and for files.
 * Without it, Node closes further connections unnoticed once the process has used all, and calls of the others fail.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:net';

export interface ConnectionLimitOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  onRefused: () => void;
}

/** Part of the free file descriptors that client connections may use. */
const CLIENT_SHARE = 3 / 4;
/** How long a refusal counts as the present state. */
const RECENT_MS = 60_000;

export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions;
  #max: number | null = null;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  /** The maximum number of connections, if some were refused within the last minute; null otherwise. */
  get refusedAbove(): number | null {
    return this.#options.nowMs() - this.#refusedAtMs < RECENT_MS ? this.#max : null;
  }

  /** Without /proc (proc(5)), the server gets no limit. */
  apply(server: Server): void {
    this.#max = findConnectionsMax();
    if (this.#max === null) return;
    server.maxConnections = this.#max;
    // Otherwise the workers would hand a connection to each other for as long as all of them are full. The types of
    // Node lack it.
    Object.assign(server, { dropMaxConnection: true });
    server.on('drop', () => {
      this.#refusedAtMs = this.#options.nowMs();
      this.#options.onRefused();
    });
  }
}

function findConnectionsMax(): number | null {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    const used = readdirSync('/proc/self/fd').length;
    return limit === undefined ? null : Math.max(1, Math.floor((Number(limit) - used) * CLIENT_SHARE));
  } catch {
    return null;
  }
}
