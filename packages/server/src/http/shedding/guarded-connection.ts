/**
 * One client connection whose calls are submitted to the {@link LoadShedder} before Node's HTTP parses them. A refusal
 * then costs a fifth of one behind HTTP, a connection whose requests were all refused has no parser, and a waiting
 * request is only some bytes.
 *
 * Node's HTTP receives the connection with the first admitted request, and parses every admitted request. Between
 * those, {@link readPlainRequest} reads the heads here. A request that is not plain, or that arrives before the
 * previous one was answered, hands the connection over to HTTP for good. So both always agree on where a request
 * begins.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { LoadShedder, SheddableRequest } from './load-shedder.ts';
import type { OverloadAnswer } from './overload-answer.ts';
import { type PlainRequest, readPlainRequest } from './plain-request.ts';

export interface GuardedConnectionOptions {
  loadShedder: LoadShedder;
  /** The answers to refused requests, by the path of the route. */
  overloadAnswers: ReadonlyMap<string, OverloadAnswer>;
  /** Maximum idle time of a client before its first request, and between two refused requests. */
  idleTimeoutMs: number;
  /** Time for the rest of a request that was refused. */
  requestTimeoutMs: number;
  /** Gives the connection to Node's HTTP. */
  serve: (socket: Socket) => void;
  /** Called once HTTP has the connection, and when it closes. */
  onServedOrClosed: (connection: GuardedConnection) => void;
}

/** Maximum size of a request that waits here. HTTP parses longer ones first, and does not read their body meanwhile. */
const WAITING_BYTES_MAX = 16 * 1024;
/** Unanswered requests of a handed-over connection above which HTTP receives no more bytes of it. */
const UNANSWERED_MAX = 16;
/** Such a connection's bytes are fed in pieces of this size, each of which holds some dozens of requests at most. */
const PIECE_BYTES = 2 * 1024;
/** RFC 9112 section 9.6: time for a client that still sends to read the answer. */
const LINGER_MS = 1000;

/**
 * - `idle`: there is no request;
 * - `waiting`: a request waits for the load shedder;
 * - `serving`: HTTP has a request, until its body has arrived and its answer was sent;
 * - `discarding`: the rest of a refused request is still arriving;
 * - `handed_over`: HTTP receives all bytes;
 * - `ended`: bytes are dropped.
 */
type Stage = 'idle' | 'waiting' | 'serving' | 'discarding' | 'handed_over' | 'ended';

interface WaitingRequest {
  readonly request: PlainRequest;
  readonly overloadAnswer: OverloadAnswer;
  /** The part of the request that has arrived. */
  received: Buffer;
}

export class GuardedConnection implements SheddableRequest {
  readonly #socket: Socket;
  readonly #options: GuardedConnectionOptions;
  #stage: Stage = 'idle';
  /** HTTP's own listener for bytes; null until HTTP has the connection. */
  #feed: ((bytes: Buffer) => void) | null = null;
  /** Bytes that were not processed yet; while there are any, the socket is paused. */
  #unread: Buffer | null = null;
  #isAdvancing = false;
  #isPaused = false;
  /**
   * HTTP has paused the socket, because a body is not read or answers are not taken. HTTP asserts that it receives no
   * bytes meanwhile. Until it resumes the socket, this class leaves the socket alone.
   */
  #isHttpPaused = false;
  /** Null unless the stage is `waiting`. */
  #waiting: WaitingRequest | null = null;
  /** Bytes of the current request that have not arrived. */
  #missingBytes = 0;
  /** Responses to requests that HTTP has parsed and not answered. */
  readonly #unanswered = new Set<ServerResponse>();
  #isAdmitting = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Socket, options: GuardedConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', this.#receive);
    socket.on('drain', this.#advance);
    socket.on('close', this.#end);
    // An error event without a listener would end the process.
    for (const event of CLOSE_EVENTS) socket.on(event, this.#destroy);
    socket.setTimeout(options.idleTimeoutMs);
  }

  get hasCallerLeft(): boolean {
    return !this.#socket.writable || this.#stage !== 'waiting';
  }

  /** True while HTTP parses a request that the load shedder has admitted. */
  get isAdmitting(): boolean {
    return this.#isAdmitting;
  }

  /** Records that HTTP has parsed a request, which this response will answer. */
  expectAnswer(response: ServerResponse): void {
    this.#unanswered.add(response);
    response.once('close', () => {
      this.#unanswered.delete(response);
      this.#advance();
    });
  }

  admit(): void {
    const { received } = this.#takeWaiting();
    this.#isAdmitting = true;
    this.#serve(received);
    this.#isAdmitting = false;
    this.#advance();
  }

  refuse(): void {
    const { request, overloadAnswer } = this.#takeWaiting();
    const text = overloadAnswer.print(request, this.#options.idleTimeoutMs);
    if (request.closes) {
      this.#stage = 'ended';
      this.#socket.end(text, 'latin1');
      if (this.#missingBytes > 0) this.#setTimer(LINGER_MS);
      else this.#socket.destroySoon();
    } else {
      this.#socket.write(text, 'latin1');
      this.#stage = this.#missingBytes > 0 ? 'discarding' : 'idle';
      if (this.#missingBytes > 0) this.#setTimer(this.#options.requestTimeoutMs);
    }
    this.#advance();
  }

  /** Closes the connection if HTTP does not have it and no request waits. */
  stop(): void {
    if (this.#feed === null && this.#stage !== 'waiting') this.#socket.destroy();
  }

  readonly #receive = (bytes: Buffer): void => {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#advance();
  };

  /** Processes the received bytes until a stage wants no more. */
  readonly #advance = (): void => {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    if (!this.#socket.isPaused()) this.#isHttpPaused = false;
    this.#endRequest();
    while (this.#unread !== null && this.#isReady) {
      this.#step(this.#unread);
      this.#endRequest();
    }
    this.#isAdvancing = false;
    this.#pauseOrResume();
  };

  /** Whether the current stage can process bytes. */
  get #isReady(): boolean {
    switch (this.#stage) {
      case 'idle':
        // A client that does not read its answers gets no further ones.
        return !this.#isHttpPaused && !this.#socket.writableNeedDrain;
      case 'serving':
        return !this.#isHttpPaused;
      case 'handed_over':
        return !this.#isHttpPaused && this.#unanswered.size < UNANSWERED_MAX;
      case 'waiting':
        return this.#missingBytes > 0;
      default:
        return true;
    }
  }

  #step(bytes: Buffer): void {
    switch (this.#stage) {
      case 'idle':
        this.#beginRequest(bytes);
        return;
      case 'waiting': {
        const waiting = this.#waiting as WaitingRequest;
        waiting.received = Buffer.concat([waiting.received, this.#takeRequest(bytes)]);
        return;
      }
      case 'serving':
        if (this.#missingBytes > 0) this.#feedHttp(this.#takeRequest(bytes));
        else this.#stage = 'handed_over';
        return;
      case 'discarding':
        this.#takeRequest(bytes);
        return;
      case 'handed_over':
        this.#feedHttp(this.#cut(bytes, PIECE_BYTES));
        return;
      case 'ended':
        this.#unread = null;
    }
  }

  #beginRequest(bytes: Buffer): void {
    const request = readPlainRequest(bytes);
    if (request === null) {
      this.#stage = 'handed_over';
      return;
    }
    this.#missingBytes = request.bytes;
    const received = this.#takeRequest(bytes);
    const overloadAnswer =
      request.method === 'POST' ? this.#options.overloadAnswers.get(request.path) : undefined;
    if (overloadAnswer === undefined || request.bytes > WAITING_BYTES_MAX) {
      this.#serve(received);
      return;
    }
    this.#stage = 'waiting';
    this.#waiting = { request, overloadAnswer, received };
    this.#options.loadShedder.submit(this);
  }

  #serve(bytes: Buffer): void {
    this.#stage = 'serving';
    this.#feedHttp(bytes);
  }

  /** Takes the bytes that belong to the current request. */
  #takeRequest(bytes: Buffer): Buffer {
    const part = this.#cut(bytes, this.#missingBytes);
    this.#missingBytes -= part.length;
    return part;
  }

  #cut(bytes: Buffer, length: number): Buffer {
    this.#unread = length < bytes.length ? bytes.subarray(length) : null;
    return bytes.subarray(0, length);
  }

  #feedHttp(bytes: Buffer): void {
    this.#feed ??= this.#connectHttp();
    this.#resume();
    this.#feed(bytes);
    this.#isHttpPaused = this.#socket.isPaused();
  }

  /** Gives HTTP the socket, but keeps its listener for bytes here, so that bytes still arrive in this class first. */
  #connectHttp(): (bytes: Buffer) => void {
    const socket = this.#socket;
    socket.setTimeout(0);
    for (const event of CLOSE_EVENTS) socket.off(event, this.#destroy);
    socket.off('data', this.#receive);
    this.#options.serve(socket);
    this.#options.onServedOrClosed(this);
    const [feed] = socket.listeners('data');
    socket.removeAllListeners('data');
    socket.on('data', this.#receive);
    socket.on('resume', this.#advance);
    return feed as (bytes: Buffer) => void;
  }

  #endRequest(): void {
    if (this.#missingBytes > 0) return;
    if (this.#stage === 'discarding') this.#setTimer(null);
    else if (this.#stage !== 'serving' || this.#unanswered.size > 0) return;
    this.#stage = 'idle';
  }

  #pauseOrResume(): void {
    if (this.#isHttpPaused) return;
    if (this.#unread === null) this.#resume();
    else if (!this.#socket.isPaused()) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  #setTimer(ms: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = ms === null ? null : setTimeout(this.#destroy, ms).unref();
  }

  #takeWaiting(): WaitingRequest {
    const waiting = this.#waiting as WaitingRequest;
    this.#waiting = null;
    return waiting;
  }

  readonly #destroy = (): void => {
    this.#socket.destroy();
  };

  readonly #end = (): void => {
    this.#stage = 'ended';
    this.#unread = null;
    this.#waiting = null;
    this.#setTimer(null);
    // Node does not end them if a CONNECT followed them on the connection.
    for (const response of this.#unanswered) response.destroy();
    this.#options.onServedOrClosed(this);
  };
}

/** Events that close a connection which HTTP does not have yet. */
const CLOSE_EVENTS = ['end', 'timeout', 'error'] as const;
