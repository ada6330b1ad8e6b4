/**
 * One client connection. Plain calls are served from it directly: their head is read by {@link readPlainRequest}, they
 * wait for their admission, and their answer is written to the socket. The first request that is not a plain call hands
 * the connection over to Node's HTTP for good. So only one parser reads a connection at a time, and both agree on where
 * a request begins.
 *
 * Requests of a connection are served one after the other. Bytes behind the current request stay unread.
 */
import type { Socket } from 'node:net';
import { nameOwner } from '../owner.ts';
import { DISCARDED_BYTES_MAX, LINGER_MS, UNREAD_BYTES_MAX } from './node-response.ts';
import {
  type BodyFailure,
  type CallConnection,
  PlainCall,
  type PlainRequest,
  readPlainRequest,
} from './plain-call.ts';

/** What is done with the calls of a path. */
export interface ServedPath {
  serve: (call: PlainCall) => void;
  /**
   * The whole answer to a call that is not admitted, as Latin-1 text. `keepAlive` is the value of that header; null if
   * the connection is closed after the answer.
   */
  printRefusal: (headers: ReadonlyMap<string, string>, keepAlive: string | null) => string;
}

/** A request that is admitted or refused once, unless its client leaves before. */
export interface WaitingRequest {
  readonly hasCallerLeft: boolean;
  /** True if it is the first of its connection. */
  readonly isFirst: boolean;
  admit(): void;
  refuse(): void;
}

/** Decides which requests are served. */
export interface Admission {
  /** Called for each new connection. */
  recordConnection(): void;
  /** Admits or refuses the request, at once or later. */
  submit(request: WaitingRequest): void;
}

/** Where a body is collected. */
export interface BodyCollector {
  /** Bytes so far. */
  readonly length: number;
  add(piece: Uint8Array): void;
  /** All bytes so far. */
  join(): Uint8Array;
}

export interface PlainConnectionOptions {
  admission: Admission;
  /** The routes of calls, by path. */
  paths: ReadonlyMap<string, ServedPath>;
  /** Creates the collector for a body of this length. No more bytes than that are added to it. */
  collectBody: (bytes: number) => BodyCollector;
  /** Maximum idle time of a client before its first request, and between two requests. */
  idleTimeoutMs: number;
  /** Time for a client to send its whole request. */
  requestTimeoutMs: number;
  /** True after a graceful stop has begun: answers are the last ones on their connections. */
  isDraining: () => boolean;
  /** True after the server has begun to close. */
  isStopping: () => boolean;
  /** Gives the connection to Node's HTTP. `bytes` were received and not processed. */
  handOver: (socket: Socket, bytes: Buffer) => void;
  /** Called once this class no longer has the connection. */
  onGone: (connection: PlainConnection) => void;
}

/** Maximum number of bytes that are kept of a body before it is read, and of the requests after the current one. */
const KEPT_BYTES_MAX = 16 * 1024;

/**
 * Bytes of bodies that are taken before other connections have their turn. Node reads up to 32 pieces of 64 KiB in one
 * turn of the event loop, and memory that is written for the first time is slow.
 */
const TAKEN_BYTES_MAX = 256 * 1024;

/**
 * Added to the idle time that clients are told, as Node's HTTP does. A client that uses the whole time would otherwise
 * send its request while we close.
 */
const IDLE_BUFFER_MS = 1000;

/**
 * Bytes of line breaks before a request that are ignored. A client that sends more is left to Node's HTTP, which waits
 * for its request for a limited time. Here, each byte would begin the idle time again.
 */
const LINE_BREAK_BYTES_MAX = 8;
const CR = 0x0d;
const LF = 0x0a;

/** Never added to. */
const NO_BODY: BodyCollector = { length: 0, add() {}, join: () => Buffer.alloc(0) };

/**
 * - `idle`: there is no request;
 * - `waiting`: a request waits for its admission;
 * - `serving`: a request is being answered;
 * - `discarding`: the answer was sent, and the rest of the request's body is still arriving;
 * - `ended`: bytes are dropped;
 * - `handed_over`: Node's HTTP has the connection.
 */
type State = 'idle' | 'waiting' | 'serving' | 'discarding' | 'ended' | 'handed_over';

export class PlainConnection implements WaitingRequest, CallConnection {
  readonly socket: Socket;
  readonly keepAlive: string;
  readonly #options: PlainConnectionOptions;
  #state: State = 'idle';
  /** Bytes that were not processed yet; while there are many, the socket is paused. */
  #unread: Buffer | null = null;
  #isAdvancing = false;
  /** The current request; null if there is none. */
  #request: PlainRequest | null = null;
  #path: ServedPath | null = null;
  #call: PlainCall | null = null;
  /** The part of the current body that has arrived. */
  #body = NO_BODY;
  #missingBytes = 0;
  /** Bytes of bodies that were taken since this connection last yielded. */
  #takenBytes = 0;
  /** Other connections get their turn before more of the body is taken. */
  #isYielding = false;
  /** Set while the body is awaited. */
  #settleBody: ((outcome: Uint8Array | BodyFailure) => void) | null = null;
  #isLate = false;
  #isFirst = true;
  /** Bytes of line breaks since the latest request. */
  #lineBreakBytes = 0;
  /**
   * While the rest of an unwanted body is discarded: the bytes that have arrived, and how many times the timer may
   * start again.
   */
  #lingering: { bytesBefore: number; bytesRead: number; roundsLeft: number } | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.socket = socket;
    this.#options = options;
    this.keepAlive = `timeout=${Math.floor(options.idleTimeoutMs / 1000)}`;
    socket.on('data', this.#receive);
    socket.on('drain', this.#advance);
    socket.on('end', this.#onEnd);
    socket.on('timeout', this.#onIdle);
    // An error event without a listener would end the process.
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.setTimeout(options.idleTimeoutMs + IDLE_BUFFER_MS);
  }

  get hasCallerLeft(): boolean {
    return !this.socket.writable || this.#state !== 'waiting';
  }

  get isFirst(): boolean {
    return this.#isFirst;
  }

  get isLastResponse(): boolean {
    return (
      this.#request?.closes === true || this.#missingBytes > UNREAD_BYTES_MAX || this.#options.isDraining()
    );
  }

  admit(): void {
    this.#state = 'serving';
    this.#call = new PlainCall(this, this.#request as PlainRequest);
    this.#path?.serve(this.#call);
    this.#advance();
  }

  refuse(): void {
    const { headers } = this.#request as PlainRequest;
    const isLast = this.isLastResponse;
    const keepAlive = isLast ? null : this.keepAlive;
    this.socket.write((this.#path as ServedPath).printRefusal(headers, keepAlive), 'latin1');
    this.onAnswered(isLast);
  }

  /** Closes the connection if there is no request. One that is `ended` closes soon, after the client has its answer. */
  stop(): void {
    if (this.#state === 'idle' || this.#state === 'discarding') this.socket.destroy();
  }

  readBody(signal: AbortSignal): Uint8Array | BodyFailure | Promise<Uint8Array | BodyFailure> {
    if (this.#missingBytes === 0) return this.#body.join();
    if (this.#isLate) return 'late';
    if (signal.aborted || this.#state !== 'serving') return 'incomplete';
    return new Promise((resolve) => {
      const abort = () => this.#settleBody?.('incomplete');
      const settle = (outcome: Uint8Array | BodyFailure) => {
        this.#settleBody = null;
        signal.removeEventListener('abort', abort);
        resolve(outcome);
      };
      this.#settleBody = settle;
      signal.addEventListener('abort', abort);
      this.#advance();
    });
  }

  onAnswered(isLast: boolean): void {
    const call = this.#call;
    this.#isFirst = false;
    this.#call = null;
    this.#request = null;
    this.#path = null;
    this.#body = NO_BODY;
    // Since the head was printed, the time for the body may have ended, or the server may have begun to close.
    if (isLast || this.#isLate || this.#options.isStopping()) this.#closeInStages();
    else if (this.#missingBytes > 0) this.#state = 'discarding';
    else this.#state = 'idle';
    call?.onAnswered();
    this.#advance();
  }

  /**
   * RFC 9112 section 9.6: closing while the client sends would reset the connection and could destroy the answer. The
   * timer also ends a connection whose client does not read its refusals.
   */
  #closeInStages(): void {
    const { bytesRead } = this.socket;
    this.#state = 'ended';
    this.#setTimer(LINGER_MS);
    if (this.#missingBytes === 0) {
      this.socket.destroySoon();
      return;
    }
    this.socket.end();
    const roundsLeft = this.#isLate ? 0 : Math.floor(this.#options.requestTimeoutMs / LINGER_MS);
    this.#lingering = { bytesBefore: bytesRead, bytesRead, roundsLeft };
  }

  /** Whether more of an unwanted body has arrived, and may still arrive. */
  #mayLinger(): boolean {
    const lingering = this.#lingering;
    if (lingering === null || this.#options.isStopping()) return false;
    const { bytesRead } = this.socket;
    if (bytesRead === lingering.bytesRead || bytesRead - lingering.bytesBefore > DISCARDED_BYTES_MAX)
      return false;
    lingering.bytesRead = bytesRead;
    return lingering.roundsLeft-- > 0;
  }

  readonly #receive = (bytes: Buffer): void => {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
    try {
      this.#advance();
    } catch (error) {
      throw nameOwner(error, this.#call?.owner ?? null);
    }
  };

  /** Processes the received bytes for as long as the state of the connection allows. */
  readonly #advance = (): void => {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#unread !== null && this.#isReady) this.#step(this.#unread);
    this.#isAdvancing = false;
    if (this.#state === 'handed_over') return;
    // A paused socket does not tell that its client has left.
    const hasEnough = this.#unread !== null && this.#unread.length >= KEPT_BYTES_MAX;
    if (hasEnough || this.#isYielding) this.socket.pause();
    else if (this.socket.isPaused()) this.socket.resume();
  };

  /** Whether received bytes can be processed in the current state. */
  get #isReady(): boolean {
    switch (this.#state) {
      case 'idle':
        // A client that does not read its answers gets no further ones.
        return !this.socket.writableNeedDrain;
      case 'waiting':
      case 'serving':
        if (this.#missingBytes === 0 || this.#isYielding) return false;
        return this.#settleBody !== null || this.#body.length < KEPT_BYTES_MAX;
      default:
        return true;
    }
  }

  #step(bytes: Buffer): void {
    switch (this.#state) {
      case 'idle':
        // Some clients send a line break after a body (RFC 9112 section 2.2). Node's HTTP would wait for the rest of a
        // request, and then refuse it.
        if ((bytes[0] === CR || bytes[0] === LF) && this.#lineBreakBytes < LINE_BREAK_BYTES_MAX) {
          this.#lineBreakBytes++;
          this.#cut(bytes, 1);
        } else this.#beginRequest(bytes);
        return;
      case 'waiting':
      case 'serving':
        this.#body.add(this.#takeBody(bytes));
        if (this.#missingBytes === 0) this.#settleBody?.(this.#body.join());
        else if (this.#takenBytes >= TAKEN_BYTES_MAX) this.#yield();
        return;
      case 'discarding':
        this.#takeBody(bytes);
        if (this.#missingBytes === 0) this.#state = 'idle';
        return;
      case 'ended':
        this.#unread = null;
        if (this.#lingering === null) return;
        this.#missingBytes -= bytes.length;
        if (this.#missingBytes <= 0) this.socket.destroySoon();
    }
  }

  #beginRequest(bytes: Buffer): void {
    const request = readPlainRequest(bytes);
    const path = request === null ? undefined : this.#options.paths.get(request.path);
    if (request === null || path === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#request = request;
    this.#path = path;
    this.#lineBreakBytes = 0;
    this.#isLate = false;
    this.#missingBytes = request.bodyBytes;
    this.#body = this.#options.collectBody(request.bodyBytes);
    this.#cut(bytes, request.headBytes);
    if (this.#unread !== null && request.bodyBytes > 0) this.#body.add(this.#takeBody(this.#unread));
    if (this.#missingBytes > 0) this.#setTimer(this.#options.requestTimeoutMs);
    this.#state = 'waiting';
    this.#options.admission.submit(this);
  }

  /** Takes the bytes that belong to the current body. */
  #takeBody(bytes: Buffer): Buffer {
    const part = this.#cut(bytes, this.#missingBytes);
    this.#missingBytes -= part.length;
    this.#takenBytes += part.length;
    if (this.#missingBytes === 0) this.#setTimer(null);
    return part;
  }

  #yield(): void {
    this.#isYielding = true;
    setImmediate(() => {
      this.#isYielding = false;
      this.#takenBytes = 0;
      this.#advance();
    });
  }

  #cut(bytes: Buffer, length: number): Buffer {
    if (length >= bytes.length) {
      this.#unread = null;
      return bytes;
    }
    this.#unread = bytes.subarray(length);
    return bytes.subarray(0, length);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#state = 'handed_over';
    this.#unread = null;
    this.#setTimer(null);
    socket.setTimeout(0);
    socket.off('data', this.#receive);
    socket.off('drain', this.#advance);
    socket.off('end', this.#onEnd);
    socket.off('timeout', this.#onIdle);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    this.#options.onGone(this);
    // HTTP takes a paused socket for one that it has paused itself.
    socket.resume();
    this.#options.handOver(socket, bytes);
  }

  #setTimer(ms: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = ms === null ? null : setTimeout(this.#onLate, ms).unref();
  }

  /** The rest of the request did not arrive in time. */
  readonly #onLate = (): void => {
    if (this.#mayLinger()) {
      this.#setTimer(LINGER_MS);
      return;
    }
    this.#isLate = true;
    if (this.#settleBody !== null) this.#settleBody('late');
    else if (this.#state !== 'serving') this.socket.destroy();
  };

  readonly #onIdle = (): void => {
    if (this.#state === 'idle') this.socket.destroy();
  };

  /** The client has ended its side. As with Node's HTTP, it gets no answer that has not begun. */
  readonly #onEnd = (): void => {
    this.socket.end();
  };

  readonly #onError = (): void => {
    this.socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#state = 'ended';
    this.#unread = null;
    this.#setTimer(null);
    this.#settleBody?.('incomplete');
    this.#call?.onClosed();
    this.#options.onGone(this);
  };
}
