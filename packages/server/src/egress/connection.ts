/**
 * One connection to an upstream: an undici Client that never has more than one call, whose sockets are opened only by
 * {@link Opening}. undici's own pool is not used because a call could not be cut off there while it connects.
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Call, CallConnection } from './call.ts';
import type { EgressRequest } from './exchange.ts';
import { Opening, OpeningFault, type OpeningMeans, type SessionSlot } from './opening.ts';
import type { EgressTarget } from './policy.ts';

/** What a connection tells its pool. */
export interface ConnectionOwner extends SessionSlot {
  readonly origin: string;
  readonly target: EgressTarget;
  onFree(connection: Connection): void;
  onGone(connection: Connection): void;
}

/** Less than the common idle times of servers (nginx 75 s, Node 5 s), so that we are the ones who close. */
const IDLE_MS = 4_000;
const HEADER_BYTES_MAX = 32 * 1024;

export class Connection implements CallConnection {
  readonly #owner: ConnectionOwner;
  readonly #means: OpeningMeans;
  readonly #client: Client;
  #opening: Opening | null = null;
  #socket: Socket | null = null;
  #call: Call | null = null;
  hasFailed = false;

  constructor(owner: ConnectionOwner, means: OpeningMeans) {
    this.#owner = owner;
    this.#means = means;
    this.#client = new Client(owner.origin, {
      connect: (_options, callback) => this.#open(callback),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      // Of a server's own idle time, one second is left for the way.
      keepAliveTimeoutThreshold: 1_000,
      // Deadlines are ours: undici's timers are half a second coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get isOpen(): boolean {
    return this.#socket !== null && !this.#socket.destroyed;
  }

  get isSending(): boolean {
    return this.#socket !== null && this.#socket.writableLength > 0;
  }

  run(call: Call, request: EgressRequest): void {
    this.#call = call;
    this.#client.dispatch(
      { method: request.method, path: request.path, headers: request.headers, body: request.body },
      call,
    );
  }

  release(isLast: boolean): void {
    this.#call = null;
    if (isLast) {
      // undici would close it too, but by way of an error whose stack costs a tenth of the call.
      this.#socket?.destroy();
      this.#owner.onGone(this);
      return;
    }
    this.#owner.onFree(this);
  }

  drop(): void {
    this.#call = null;
    this.#opening?.cancel();
    this.#client.destroy(() => {});
    this.#owner.onGone(this);
  }

  /** Ends its call, if it has one, and closes. */
  async close(): Promise<void> {
    this.#call?.end('aborted', 'the proxy is shutting down');
    this.#opening?.cancel();
    await this.#client.destroy();
  }

  #open(callback: (...outcome: [error: null, socket: Socket] | [error: Error, socket: null]) => void): void {
    this.#opening = new Opening(this.#owner.target, this.#means, this.#owner, (outcome) => {
      this.#opening = null;
      if (outcome instanceof OpeningFault) {
        callback(outcome, null);
        return;
      }
      this.#socket = outcome;
      this.hasFailed = false;
      // Before undici's own listeners, so that the call knows it when undici calls a reset the end of the body.
      outcome.on('error', () => {
        if (this.#socket === outcome) this.hasFailed = true;
      });
      outcome.once('close', () => {
        if (this.#call === null) this.#owner.onGone(this);
      });
      callback(null, outcome);
    });
  }
}
