/**
 * One connection to a server, with at most one request at a time. {@link Opening} opens it; it is closed after some
 * idle time. Does not interpret the bytes.
 */
import { atTurnEnd } from '../turn-end.ts';
import type { Destination } from './destination.ts';
import type { DialledConnection } from './dialer.ts';
import type { SendOptions, WireAnswer, WireFailure } from './messages.ts';
import { describeError, Opening, OpeningError } from './opening.ts';
import type { ReusableSocket, SocketUser } from './reusable-socket.ts';
import { type RequestConnection, RunningRequest } from './running-request.ts';

/** The pool of the connection. */
export interface ConnectionOwner extends Destination {
  /** The connection can serve another request, unless it is closed meanwhile. */
  onFree(connection: Connection): void;
  /** The connection is closed. */
  onGone(connection: Connection): void;
}

/** Less than the usual idle time of servers (nginx 75 s, Node 5 s), so that this side closes first. */
const IDLE_MS = 4_000;
/**
 * A connection takes no further request after this time. Otherwise a busy proxy would never notice that the name of the
 * server has moved to another address, or that its certificate has changed.
 */
const LIFE_MS = 60_000;
/** Part of the server's idle time that is reserved for network latency. */
const LATENCY_MS = 1_000;
/** Bytes of a request that are given to the socket at once. */
const SLICE_BYTES = 512 * 1024;

const ALWAYS = () => true;

export class Connection implements RequestConnection, SocketUser, DialledConnection {
  index = -1;
  readonly #owner: ConnectionOwner;
  #opening: Opening | null = null;
  /** Null before the opening, and after the end: the socket may then be another connection's. */
  #socket: ReusableSocket | null = null;
  #call: RunningRequest | null = null;
  #isGone = false;
  #isPaused = false;
  #isSending = false;
  #openedMs = 0;
  #idleMs = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
    owner.dialer.connections.add(this);
  }

  /** Whether it can serve another request, after `onFree`. */
  get isUsable(): boolean {
    return this.#socket?.isOpen === true && this.#owner.dialer.nowMs() - this.#openedMs < LIFE_MS;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  /**
   * Sends a request of `buildRequest`, and gives the answer as soon as its head has arrived. Opens the socket first if
   * there is none. Called at first, and then after `onFree`.
   */
  send(request: readonly Uint8Array[], options: SendOptions): Promise<WireAnswer | WireFailure> {
    const { isStillWanted = ALWAYS, maySend = ALWAYS } = options;
    return new Promise((settle) => {
      const call = new RunningRequest(this, options, this.#owner.dialer.firstByteTimeoutMs, settle);
      this.#call = call;
      if (this.#socket === null) this.#open(call, request, isStillWanted, maySend);
      else this.#send(this.#socket, call, request, maySend);
    });
  }

  #open(
    call: RunningRequest,
    request: readonly Uint8Array[],
    isStillWanted: () => boolean | Promise<boolean>,
    maySend: () => boolean,
  ): void {
    this.#opening = new Opening(this.#owner, call.owner, (outcome) => {
      this.#opening = null;
      if (outcome instanceof OpeningError) {
        call.abort(outcome.reason, outcome.message);
        return;
      }
      this.#socket = outcome;
      this.#openedMs = this.#owner.dialer.nowMs();
      outcome.user = this;
      const isWanted = isStillWanted();
      if (isWanted instanceof Promise)
        // It rejects if the call ends while it is checked.
        void isWanted
          .catch(() => false)
          .then((isWantedNow) => this.#sendIf(isWantedNow, outcome, call, request, maySend));
      else this.#sendIf(isWanted, outcome, call, request, maySend);
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket?.resume();
  }

  release(keptMs: number | null): void {
    this.#call = null;
    const idleMs = keptMs === null ? IDLE_MS : Math.min(IDLE_MS, keptMs - LATENCY_MS);
    if (idleMs <= 0 || this.#isSending) {
      this.drop();
      return;
    }
    if (this.#isPaused) this.resume();
    this.#awaitUse(idleMs);
    if (this.#socket?.isSending !== true) this.#owner.onFree(this);
    // With TLS, Node reports that a request was sent one turn late, and may read the answer before that report.
    else setImmediate(() => this.#freeIfSent());
  }

  /** The answer came before the whole request was sent. The rest of it would be read as the next request. */
  #freeIfSent(): void {
    if (this.#isGone) return;
    if (this.#socket?.isSending === true) this.drop();
    else this.#owner.onFree(this);
  }

  drop(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#call = null;
    this.#opening?.cancel();
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#socket?.destroy();
    this.#socket = null;
    this.#owner.dialer.connections.delete(this);
    this.#owner.onGone(this);
  }

  /** Aborts the call, if one runs, and closes the socket. */
  close(): void {
    this.#call?.abort('aborted', 'the proxy is shutting down');
    this.drop();
  }

  #sendIf(
    isWanted: boolean,
    socket: ReusableSocket,
    call: RunningRequest,
    request: readonly Uint8Array[],
    maySend: () => boolean,
  ): void {
    if (isWanted) this.#send(socket, call, request, maySend);
    else call.abort('withdrawn', 'the request was no longer wanted when the connection was made');
  }

  /** At the end of this turn of the event loop: requests that are sent together wake the server only once. */
  #send(
    socket: ReusableSocket,
    call: RunningRequest,
    request: readonly Uint8Array[],
    maySend: () => boolean,
  ): void {
    atTurnEnd('send a request', call.owner, () => {
      if (this.#call !== call) return;
      if (!maySend()) {
        call.abort('withdrawn', 'the request might not be sent any more');
        return;
      }
      call.onSending();
      for (const piece of request.slice(0, -1)) socket.write(piece);
      this.#write(socket, call, request.at(-1) as Uint8Array);
    });
  }

  /**
   * Writes the last bytes of the request, a slice in each turn of the event loop. TLS encrypts at once what it is
   * given, and a socket whose server reads fast enough takes all slices of a turn without a wait.
   */
  #write(socket: ReusableSocket, call: RunningRequest, bytes: Uint8Array): void {
    const rest = bytes.subarray(SLICE_BYTES);
    if (rest.length === 0) {
      this.#isSending = false;
      socket.write(bytes, () => call.onSent());
      return;
    }
    this.#isSending = true;
    socket.write(bytes.subarray(0, SLICE_BYTES), (error) => {
      if (error) return;
      setImmediate(() => {
        if (this.#call === call) this.#write(socket, call, rest);
      });
    });
  }

  onBytes(bytes: Buffer): void {
    // Bytes without a request would be read as the answer to the next call.
    if (this.#call === null) this.drop();
    else this.#call.take(bytes);
  }

  onEnd(): void {
    this.#call?.finish();
    this.drop();
  }

  onError(error: Error): void {
    this.#call?.onLost(isTlsError(error) ? 'tls' : 'reset', describeError(error));
  }

  onClose(): void {
    this.#call?.onLost('reset', 'the connection was closed');
    this.drop();
  }

  /** Uses one timer for the life of the connection: to refresh it is cheaper than a new one for each call. */
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

/** Some errors of a handshake arrive after it, such as a missing client certificate in TLS 1.3. */
function isTlsError(error: NodeJS.ErrnoException): boolean {
  return error.code !== undefined && /^ERR_(SSL|TLS)/.test(error.code);
}
