/**
 * One connection of a client, whose calls come to the {@link Door} before Node's HTTP reads them: a call that is refused then
 * costs a fifth of what it would, a connection that is refused from its start has no parser, and what waits is some bytes.
 *
 * Node's HTTP is given the connection with the first request that is let in, and reads each such request as ever. What comes
 * between is looked at here, by {@link readPlainRequest}: a request that is not plain, or that does not wait for the
 * answer of the one before, hands the connection over to HTTP for good. So the two never differ on where a request begins.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Door, Visitor } from './door.ts';
import { type PlainRequest, readPlainRequest } from './plain-request.ts';
import type { Refusal } from './refuse-at-door.ts';

export interface GuardedConnectionMeans {
  door: Door;
  /** The answers at the door, by the path of the route. */
  refusals: ReadonlyMap<string, Refusal>;
  /** So long a client may be silent before its first request, and between two that are refused. */
  silentMs: number;
  /** Gives the connection to Node's HTTP. */
  serve: (socket: Socket) => void;
  /** The connection is HTTP's now, or gone. */
  onLeft: (connection: GuardedConnection) => void;
}

/** A request waits at the door only while it is so short; a longer one waits as Node's own, whose body is not read meanwhile. */
const WAITING_BYTES_MAX = 16 * 1024;

/**
 * - `between`: no request is here;
 * - `waiting`: one is at the door;
 * - `serving`: one is HTTP's, until its body has come and its answer has left;
 * - `refused`: the body of one that was refused still comes;
 * - `handed_over`: all is HTTP's;
 * - `ended`: nothing is read any more.
 */
type Stage = 'between' | 'waiting' | 'serving' | 'refused' | 'handed_over' | 'ended';

export class GuardedConnection implements Visitor {
  readonly #socket: Socket;
  readonly #means: GuardedConnectionMeans;
  #stage: Stage = 'between';
  /** What Node's HTTP takes bytes by; null until it has the connection. */
  #feed: ((bytes: Buffer) => void) | null = null;
  /** While waiting. */
  #request: PlainRequest | null = null;
  #held: Buffer | null = null;
  /** Of the body of the present request. */
  #missingBytes = 0;
  #isAnswered = false;
  #isLetIn = false;

  constructor(socket: Socket, means: GuardedConnectionMeans) {
    this.#socket = socket;
    this.#means = means;
    socket.on('data', this.#take);
    socket.on('end', this.#leave);
    socket.on('close', this.#leave);
    socket.on('timeout', this.#leave);
    // Without a listener it would end the process.
    socket.on('error', this.#leave);
    socket.setTimeout(means.silentMs);
  }

  get hasLeft(): boolean {
    return !this.#socket.writable || this.#stage !== 'waiting';
  }

  /** Whether the request that HTTP has just read has been at the door. */
  takeLetIn(): boolean {
    const isLetIn = this.#isLetIn;
    this.#isLetIn = false;
    return isLetIn;
  }

  /** HTTP has read a request, and this is the answer to it. */
  expectAnswer(response: ServerResponse): void {
    if (this.#stage !== 'serving') return;
    response.once('close', () => {
      this.#isAnswered = true;
      this.#endRequest();
    });
  }

  letIn(): void {
    const held = this.#held as Buffer;
    this.#isLetIn = true;
    this.#serve(held);
  }

  refuse(): void {
    const request = this.#request as PlainRequest;
    const text = (this.#means.refusals.get(request.path) as Refusal).print(request);
    this.#forget();
    if (request.closes) {
      this.#stage = 'ended';
      this.#socket.end(text, 'latin1');
      return;
    }
    this.#stage = this.#missingBytes > 0 ? 'refused' : 'between';
    this.#socket.write(text, 'latin1');
  }

  /** Closes it where no request of it is HTTP's or waits. */
  stop(): void {
    if (this.#feed === null && this.#stage !== 'waiting') this.#socket.destroy();
  }

  readonly #take = (bytes: Buffer): void => {
    switch (this.#stage) {
      case 'between':
        this.#begin(bytes);
        return;
      case 'waiting':
        this.#hold(bytes);
        return;
      case 'serving':
        this.#missingBytes -= bytes.length;
        if (this.#missingBytes < 0) this.#stage = 'handed_over';
        this.#feed?.(bytes);
        this.#endRequest();
        return;
      case 'refused':
        this.#skip(bytes);
        return;
      case 'handed_over':
        this.#feed?.(bytes);
    }
  };

  #begin(bytes: Buffer): void {
    const request = readPlainRequest(bytes);
    this.#missingBytes = (request?.bytes ?? 0) - bytes.length;
    if (request === null || this.#missingBytes < 0) {
      this.#handOver(bytes);
      return;
    }
    const isCall = request.method === 'POST' && this.#means.refusals.has(request.path);
    if (!isCall || request.bytes > WAITING_BYTES_MAX) {
      this.#serve(bytes);
      return;
    }
    this.#stage = 'waiting';
    this.#request = request;
    this.#held = bytes;
    this.#means.door.enter(this);
  }

  #hold(bytes: Buffer): void {
    const held = Buffer.concat([this.#held as Buffer, bytes]);
    this.#missingBytes -= bytes.length;
    // The next request has come: HTTP answers both in their order.
    if (this.#missingBytes < 0) this.#handOver(held);
    else this.#held = held;
  }

  #skip(bytes: Buffer): void {
    const bodyBytes = Math.min(this.#missingBytes, bytes.length);
    this.#missingBytes -= bodyBytes;
    if (this.#missingBytes > 0) return;
    this.#stage = 'between';
    if (bodyBytes < bytes.length) this.#begin(bytes.subarray(bodyBytes));
  }

  #serve(bytes: Buffer): void {
    this.#forget();
    this.#stage = 'serving';
    this.#isAnswered = false;
    this.#give(bytes);
  }

  #handOver(bytes: Buffer): void {
    this.#forget();
    this.#stage = 'handed_over';
    this.#give(bytes);
  }

  #give(bytes: Buffer): void {
    this.#feed ??= this.#connectHttp();
    this.#feed(bytes);
  }

  /** HTTP listens to the socket from now on; but what comes goes on coming here first. */
  #connectHttp(): (bytes: Buffer) => void {
    const socket = this.#socket;
    socket.setTimeout(0);
    for (const event of ['end', 'close', 'timeout', 'error']) socket.off(event, this.#leave);
    socket.off('data', this.#take);
    this.#means.serve(socket);
    this.#means.onLeft(this);
    const [feed] = socket.listeners('data');
    socket.removeAllListeners('data');
    socket.on('data', this.#take);
    return feed as (bytes: Buffer) => void;
  }

  #endRequest(): void {
    if (this.#stage === 'serving' && this.#isAnswered && this.#missingBytes === 0) this.#stage = 'between';
  }

  #forget(): void {
    this.#request = null;
    this.#held = null;
  }

  readonly #leave = (): void => {
    this.#stage = 'ended';
    this.#forget();
    this.#socket.destroy();
    this.#means.onLeft(this);
  };
}
