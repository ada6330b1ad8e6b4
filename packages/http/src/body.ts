/**
 * The bodies of requests: which may be read, the denials of others, the memory for them, and how their pieces are
 * collected. Does not interpret the bytes.
 */
import { isLarge, SharedCollector } from '@erp-proxy/async/shared-bytes';
import { PieceCollector } from '@erp-proxy/async/streams';
import { waitFor } from '@erp-proxy/async/tasks';
import { Denial } from '@erp-proxy/gateway/terms';
import type { BodyFailure } from '@erp-proxy/wire/server';

/** Headers that describe a body. */
export interface BodyHeaders {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** Undefined if the body comes in chunks. */
  contentLength: string | number | undefined;
}

/**
 * Returns the reason why the body must not be read; null if it may be. With the `kind` `bytes`, any media type is
 * allowed.
 */
export function denyBody(
  headers: BodyHeaders,
  bytesMax: number,
  kind: 'json' | 'bytes' = 'json',
): Denial | null {
  const { contentType, contentEncoding, contentLength } = headers;
  if (kind === 'json' && !isJson(contentType))
    return unsupported('Send `content-type: application/json`, in UTF-8.');
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return unsupported('The body has a content-encoding; send it as it is.');
  }
  return Number(contentLength ?? 0) > bytesMax ? denyLength(bytesMax) : null;
}

/**
 * Why a body that may be read does not arrive: its client or its call has ended, its time is over, or other large
 * bodies have taken the memory for bodies (http.bodiesBytesMax).
 */
type Failure = BodyFailure | 'no_room';

const DENIALS: Record<Failure, Denial> = {
  incomplete: new Denial('invalid_request', 'The request ended before its body was whole.'),
  late: new Denial('invalid_request', 'The request did not arrive whole in time; send it again, faster.', {
    headers: { connection: 'close' },
  }),
  no_room: new Denial(
    'overloaded',
    'The proxy holds as many large bodies as it has memory for. Send the call again in 1 s. The call was not run.',
    { outcome: 'not_sent', retryAfterSeconds: 1, detail: 'no memory for the body' },
  ),
};

export function denyBodyFailure(failure: Failure): Denial {
  return DENIALS[failure];
}

export function denyLength(bytesMax: number): Denial {
  return new Denial('payload_too_large', `The body is larger than ${bytesMax} bytes; send less in one call.`);
}

function unsupported(message: string): Denial {
  return new Denial('unsupported_media_type', message);
}

/**
 * `application/json` whose charset, if any, is UTF-8 (RFC 9110 section 8.3). Other parameters have no meaning for this
 * type and are ignored (RFC 8259 section 11).
 */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  const [type = ''] = contentType.split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  const parameters = contentType.slice(type.length);
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < parameters.length) {
    const [match, name, value] = PARAMETER.exec(parameters) ?? [];
    if (match === undefined) return false;
    if (name?.toLowerCase() === 'charset' && !/^"?utf-?8"?$/i.test(value ?? '')) return false;
  }
  return true;
}

/** Matches a parameter, or an empty one (RFC 9110 section 5.6.6). Accepts white space around `=`. */
const PARAMETER = /\s*;\s*(?:([\w!#$%&'*+.^`|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[\w!#$%&'*+.^`|~-]+)\s*)?/y;

/**
 * Collects the pieces of a request's body. A large body is collected in memory that the thread for large calls can
 * read, too.
 */
export class BodyCollector {
  readonly #bytesMax: number;
  readonly #pieces = new PieceCollector();
  /** Memory that threads share; null while the body is small. */
  #shared: SharedCollector | null = null;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return (this.#shared ?? this.#pieces).length;
  }

  /** Adds a piece. The body must not exceed `bytesMax` bytes. */
  add(piece: Uint8Array): void {
    if (this.#shared !== null) {
      this.#shared.add(piece);
      return;
    }
    this.#pieces.add(piece);
    if (!isLarge(this.#pieces)) return;
    this.#shared = new SharedCollector(this.#bytesMax);
    this.#shared.add(this.#pieces.join());
  }

  /** Returns all bytes so far. */
  join(): Uint8Array {
    return (this.#shared ?? this.#pieces).join();
  }
}

/** Maximum time for which a body waits for room. */
const WAIT_MS = 10_000;

interface Waiting {
  bytes: number;
  give: (isGiven: true) => void;
}

/**
 * Bounds the memory of request bodies: a large body is read only when there is room for it. Bodies get room in the
 * order of their requests. Small bodies need no room.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  #takenBytes = 0;
  readonly #waiting: Waiting[] = [];

  /** Every single body must fit into `bytesMax`. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** Resolves to false if there is no room in time, or if the signal aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#takenBytes += bytes;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<true>();
    const waiting: Waiting = { bytes, give: resolve };
    this.#waiting.push(waiting);
    const given = await waitFor(promise, { signal, timeoutMs: WAIT_MS });
    if (given === true) return true;
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.#giveRoom();
    } else this.giveBack(bytes); // The room was given in the same turn, after the wait ended.
    return false;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
    this.#giveRoom();
  }

  #hasRoom(bytes: number): boolean {
    return this.#takenBytes + bytes <= this.#bytesMax;
  }

  #giveRoom(): void {
    for (
      let [next] = this.#waiting;
      next !== undefined && this.#hasRoom(next.bytes);
      [next] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#takenBytes += next.bytes;
      next.give(true);
    }
  }
}

/** The room that one body has taken. */
export class BodyRoom {
  readonly #budget: BodyBudget;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Call it once. Resolves to false if there is no room in time, if the signal aborts, or after `release`. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#budget.take(bytes, signal))) return false;
    this.#bytes = bytes;
    if (this.#isReleased) this.#giveBack();
    return !this.#isReleased;
  }

  release(): void {
    this.#isReleased = true;
    this.#giveBack();
  }

  #giveBack(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (bytes > 0) this.#budget.giveBack(bytes);
  }
}
