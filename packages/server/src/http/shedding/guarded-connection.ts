/**
 * One connection of a client, whose calls come to the {@link LoadShedder} before Node's HTTP reads them: a call that is refused then
 * costs a fifth of what it would, a connection that is refused from its start has no parser, and what waits is some bytes.
 *
 * Node's HTTP is given the connection with the first request that is let in, and reads each such request as ever. What comes
 * between is looked at here, by {@link readPlainRequest}: a request that is not plain, or that comes before the answer to
 * the one before, hands the connection over to HTTP for good. So the two never differ on where a request begins.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { LoadShedder, PermitRequest } from './load-shedder.ts';
import { type PlainRequest, readPlainRequest } from './plain-request.ts';
import type { Refusal } from './refuse.ts';

export interface GuardedConnectionMeans {
  door: LoadShedder;
  /** The answers at the door, by the path of the route. */
  refusals: ReadonlyMap<string, Refusal>;
  /** So long a client may be silent before its first request, and between two that are refused. */
  silentMs: number;
  /** Time for the rest of a request that was refused. */
  requestTimeoutMs: number;
  /** Gives the connection to Node's HTTP. */
  serve: (socket: Socket) => void;
  /** The connection is HTTP's now, or gone. */
  onLeft: (connection: GuardedConnection) => void;
}

/** A request waits at the door only while it is so short; a longer one waits as Node's own, whose body is not read meanwhile. */
const WAITING_BYTES_MAX = 16 * 1024;
/** So many requests may be with HTTP before it is given more of a connection that is its own, */
const UNANSWERED_MAX = 16;
/** in pieces of which each holds some dozens at most. */
const PIECE_BYTES = 2 * 1024;
/** RFC 9112 section 9.6: time for the client to take the answer, where it still sends. */
const LINGER_MS = 1000;

/**
 * - `between`: no request is here;
 * - `waiting`: one is at the door;
 * - `serving`: one is HTTP's, until its body has come and its answer has left;
 * - `refused`: the body of one that was refused still comes;
 * - `handed_over`: all is HTTP's;
 * - `ended`: nothing is read any more.
 */
type Stage = 'between' | 'waiting' | 'serving' | 'refused' | 'handed_over' | 'ended';

/** At the door. */
interface WaitingCall {
  readonly request: PlainRequest;
  readonly refusal: Refusal;
  /** What is here of it. */
  held: Buffer;
}

export class GuardedConnection implements PermitRequest {
  readonly #socket: Socket;
  readonly #means: GuardedConnectionMeans;
  #stage: Stage = 'between';
  /** What Node's HTTP takes bytes by; null until it has the connection. */
  #feed: ((bytes: Buffer) => void) | null = null;
  /** Bytes that nobody has taken yet; while there are any, no more are read. */
  #unread: Buffer | null = null;
  #isAdvancing = false;
  #isPaused = false;
  /**
   * HTTP has paused the socket: for a body that nobody reads, or answers that nobody takes. It asserts that it is given
   * nothing then. Until it resumes, the socket is left to it.
   */
  #isHttpPaused = false;
  /** While waiting. */
  #call: WaitingCall | null = null;
  /** Of the body of the present request. */
  #missingBytes = 0;
  /** What HTTP has read and not answered. */
  readonly #unanswered = new Set<ServerResponse>();
  #isLetIn = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Socket, means: GuardedConnectionMeans) {
    this.#socket = socket;
    this.#means = means;
    socket.on('data', this.#take);
    socket.on('drain', this.#advance);
    socket.on('close', this.#end);
    // Without a listener an error would end the process.
    for (const event of LEAVING) socket.on(event, this.#destroy);
    socket.setTimeout(means.silentMs);
  }

  get hasLeft(): boolean {
    return !this.#socket.writable || this.#stage !== 'waiting';
  }

  /** Whether the request that HTTP has just read has been at the door. */
  get isLetIn(): boolean {
    return this.#isLetIn;
  }

  /** HTTP has read a request, and this is to be the answer to it. */
  expectAnswer(response: ServerResponse): void {
    this.#unanswered.add(response);
    response.once('close', () => {
      this.#unanswered.delete(response);
      this.#advance();
    });
  }

  letIn(): void {
    const { held } = this.#takeCall();
    this.#isLetIn = true;
    this.#serve(held);
    this.#isLetIn = false;
    this.#advance();
  }

  refuse(): void {
    const { request, refusal } = this.#takeCall();
    const text = refusal.print(request, this.#means.silentMs);
    if (request.closes) {
      this.#stage = 'ended';
      this.#socket.end(text, 'latin1');
      if (this.#missingBytes > 0) this.#limit(LINGER_MS);
      else this.#socket.destroySoon();
    } else {
      this.#socket.write(text, 'latin1');
      this.#stage = this.#missingBytes > 0 ? 'refused' : 'between';
      if (this.#missingBytes > 0) this.#limit(this.#means.requestTimeoutMs);
    }
    this.#advance();
  }

  /** Closes it where no request of it is HTTP's or waits. */
  stop(): void {
    if (this.#feed === null && this.#stage !== 'waiting') this.#socket.destroy();
  }

  readonly #take = (bytes: Buffer): void => {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#advance();
  };

  /** Goes on with the bytes that are here, as far as they are taken. */
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
    this.#pace();
  };

  /** Whether bytes are wanted at present. */
  get #isReady(): boolean {
    switch (this.#stage) {
      case 'between':
        // Who takes no answers may ask for no more.
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
      case 'between':
        this.#begin(bytes);
        return;
      case 'waiting': {
        const call = this.#call as WaitingCall;
        call.held = Buffer.concat([call.held, this.#takeBody(bytes)]);
        return;
      }
      case 'serving':
        if (this.#missingBytes > 0) this.#give(this.#takeBody(bytes));
        else this.#stage = 'handed_over';
        return;
      case 'refused':
        this.#takeBody(bytes);
        return;
      case 'handed_over':
        this.#give(this.#cut(bytes, PIECE_BYTES));
        return;
      case 'ended':
        this.#unread = null;
    }
  }

  #begin(bytes: Buffer): void {
    const request = readPlainRequest(bytes);
    if (request === null) {
      this.#stage = 'handed_over';
      return;
    }
    this.#missingBytes = request.bytes;
    const here = this.#takeBody(bytes);
    const refusal = request.method === 'POST' ? this.#means.refusals.get(request.path) : undefined;
    if (refusal === undefined || request.bytes > WAITING_BYTES_MAX) {
      this.#serve(here);
      return;
    }
    this.#stage = 'waiting';
    this.#call = { request, refusal, held: here };
    this.#means.door.enter(this);
  }

  #serve(bytes: Buffer): void {
    this.#stage = 'serving';
    this.#give(bytes);
  }

  /** What is here of the present request. */
  #takeBody(bytes: Buffer): Buffer {
    const part = this.#cut(bytes, this.#missingBytes);
    this.#missingBytes -= part.length;
    return part;
  }

  #cut(bytes: Buffer, length: number): Buffer {
    this.#unread = length < bytes.length ? bytes.subarray(length) : null;
    return bytes.subarray(0, length);
  }

  #give(bytes: Buffer): void {
    this.#feed ??= this.#connectHttp();
    this.#resume();
    this.#feed(bytes);
    this.#isHttpPaused = this.#socket.isPaused();
  }

  /** HTTP listens to the socket from now on; but what comes goes on coming here first. */
  #connectHttp(): (bytes: Buffer) => void {
    const socket = this.#socket;
    socket.setTimeout(0);
    for (const event of LEAVING) socket.off(event, this.#destroy);
    socket.off('data', this.#take);
    this.#means.serve(socket);
    this.#means.onLeft(this);
    const [feed] = socket.listeners('data');
    socket.removeAllListeners('data');
    socket.on('data', this.#take);
    socket.on('resume', this.#advance);
    return feed as (bytes: Buffer) => void;
  }

  #endRequest(): void {
    if (this.#missingBytes > 0) return;
    if (this.#stage === 'refused') this.#limit(null);
    else if (this.#stage !== 'serving' || this.#unanswered.size > 0) return;
    this.#stage = 'between';
  }

  #pace(): void {
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

  #limit(ms: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = ms === null ? null : setTimeout(this.#destroy, ms).unref();
  }

  #takeCall(): WaitingCall {
    const call = this.#call as WaitingCall;
    this.#call = null;
    return call;
  }

  readonly #destroy = (): void => {
    this.#socket.destroy();
  };

  readonly #end = (): void => {
    this.#stage = 'ended';
    this.#unread = null;
    this.#call = null;
    this.#limit(null);
    // Node forgets them where a CONNECT has come behind them.
    for (const response of this.#unanswered) response.destroy();
    this.#means.onLeft(this);
  };
}

/** How a client leaves that has no HTTP yet. */
const LEAVING = ['end', 'timeout', 'error'] as const;
