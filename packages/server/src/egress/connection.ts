/**
 * One connection to an upstream, with at most one call at a time: opened by {@link Opening}, written to and read from
 * here, and closed when nobody has used it for a while. It knows nothing of what the bytes say.
 */
import type { Socket } from 'node:net';
import type { Call, CallConnection } from './egress-call.ts';
import { describeError, Opening, OpeningFault, type OpeningMeans, type SessionSlot } from './opening.ts';
import type { EgressTarget } from './policy.ts';

/** What a connection tells its pool. */
export interface ConnectionOwner extends SessionSlot {
  readonly target: EgressTarget;
  onFree(connection: Connection): void;
  onGone(connection: Connection): void;
}

/** Less than the common idle times of servers (nginx 75 s, Node 5 s), so that we are the ones who close. */
const IDLE_MS = 4_000;
/** Of a server's own idle time, so much is left for the way. */
const WAY_MS = 1_000;

export class Connection implements CallConnection {
  readonly #owner: ConnectionOwner;
  #opening: Opening | null = null;
  #socket: Socket | null = null;
  #call: Call | null = null;
  #isGone = false;
  #idleMs = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
  }

  get isOpen(): boolean {
    return this.#socket !== null && !this.#socket.destroyed;
  }

  /** The socket still holds bytes of the request. */
  get #isSending(): boolean {
    return this.#socket !== null && this.#socket.writableLength > 0;
  }

  /** Sends the call's request, where need be on a socket that is opened for it. */
  run(
    call: Call,
    request: readonly Uint8Array[],
    means: OpeningMeans,
    isStillWanted: () => Promise<boolean>,
  ): void {
    this.#call = call;
    if (this.#socket !== null) {
      this.#send(this.#socket, call, request);
      return;
    }
    this.#opening = new Opening(this.#owner.target, means, this.#owner, (outcome) => {
      this.#opening = null;
      if (outcome instanceof OpeningFault) {
        call.end(outcome.reason, outcome.message);
        return;
      }
      this.#listen(outcome);
      void this.#sendWanted(outcome, call, request, isStillWanted);
    });
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  release(keptMs: number | null): void {
    this.#call = null;
    const idleMs = keptMs === null ? IDLE_MS : Math.min(IDLE_MS, keptMs - WAY_MS);
    // An answer that came before the whole request: what is left of it would be taken for the next one.
    if (idleMs <= 0 || this.#isSending) {
      this.drop();
      return;
    }
    this.resume();
    this.#awaitUse(idleMs);
    this.#owner.onFree(this);
  }

  drop(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#call = null;
    this.#opening?.cancel();
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#socket?.destroy();
    this.#owner.onGone(this);
  }

  /** Ends its call, if it has one, and closes. */
  close(): void {
    this.#call?.end('aborted', 'the proxy is shutting down');
    this.drop();
  }

  async #sendWanted(
    socket: Socket,
    call: Call,
    request: readonly Uint8Array[],
    isStillWanted: () => Promise<boolean>,
  ): Promise<void> {
    if (await isStillWanted()) this.#send(socket, call, request);
    else call.end('withdrawn', 'the request was not wanted any more when the connection was made');
  }

  /** At the end of the turn: requests that leave together wake the server, and whatever is on the way, only once. */
  #send(socket: Socket, call: Call, request: readonly Uint8Array[]): void {
    setImmediate(() => {
      if (this.#call !== call) return;
      call.onSending();
      for (const piece of request.slice(0, -1)) socket.write(piece);
      socket.write(request.at(-1) as Uint8Array, () => call.onSent());
    });
  }

  #listen(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      // Bytes that nobody asked for would be taken for the next call's answer.
      if (this.#call === null) this.drop();
      else this.#call.take(bytes);
    });
    socket.on('end', () => {
      this.#call?.finish();
      this.drop();
    });
    socket.on('error', (error) => {
      this.#call?.break(isTlsError(error) ? 'tls' : 'reset', describeError(error));
    });
    socket.on('close', () => {
      this.#call?.break('reset', 'the connection was closed');
      this.drop();
    });
  }

  /** One timer for the connection's life: to wind it up again costs less than to make a new one for each call. */
  #awaitUse(idleMs: number): void {
    if (this.#idleTimer !== null && this.#idleMs === idleMs) {
      this.#idleTimer.refresh();
      return;
    }
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleMs = idleMs;
    this.#idleTimer = setTimeout(() => {
      if (this.#call === null) this.drop();
    }, idleMs).unref();
  }
}

/** Some faults of a handshake are told after it, as that of a client certificate in TLS 1.3. */
function isTlsError(error: NodeJS.ErrnoException): boolean {
  return error.code !== undefined && /^ERR_(SSL|TLS)/.test(error.code);
}
