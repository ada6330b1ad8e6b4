/** Makes the server listen, and explains to the operator why it cannot. */

import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { StartError } from '@erp-proxy/observe/start-error';
import type { FastifyInstance } from 'fastify';

/**
 * Maximum connections that wait to be accepted. With Node's default of 511, clients of a larger burst retry only after
 * a second.
 */
const BACKLOG = 4096;

export interface ListenAddress {
  host: string;
  /** 0 for any free port. */
  port: number;
}

/** Resolves to the base address of the server. Rejects with a {@link StartError} if the address cannot be used. */
export async function listen(
  app: FastifyInstance,
  { host, port }: ListenAddress,
  connectionLimit: ConnectionLimit,
): Promise<string> {
  connectionLimit.apply(app.server);
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  const hostname = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${hostname}:${address.port}`;
}

function explainListenError(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} on ${host} is taken; end what uses it, or choose another with --http.port.`,
      );
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user; choose one above 1023.`);
    case 'EADDRNOTAVAIL':
      return new StartError(`${host} is not an address of this machine; see http.host.`);
    default:
      return error;
  }
}

export interface ConnectionLimitOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  onRefused: () => void;
}

/** Share of the free file descriptors that client connections may use. */
const CLIENT_SHARE = 3 / 4;
/** For how long a refusal is reported. */
const RECENT_MS = 60_000;

/**
 * Limits client connections, so that file descriptors are left for connections to Odoo, for the store and for files.
 * Without the limit, the process can use up all descriptors: Node then closes further connections unnoticed, and calls
 * on the open ones fail.
 */
export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions;
  #max: number | null = null;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  /** The maximum number of connections if some were refused within the last minute; null otherwise. */
  get refusedAbove(): number | null {
    return this.#options.nowMs() - this.#refusedAtMs < RECENT_MS ? this.#max : null;
  }

  /** Sets the limit of the server. Without /proc (proc(5)) there is no limit. */
  apply(server: Server): void {
    this.#max = findConnectionsMax();
    if (this.#max === null) return;
    server.maxConnections = this.#max;
    // Drops a connection above the maximum. Otherwise full workers would hand it to each other until one of them has
    // room. Node's types lack this property.
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
