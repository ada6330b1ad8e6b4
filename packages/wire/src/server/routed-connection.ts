/**
 * A client connection that Node's HTTP reads and the router answers. Node parses every request in the bytes that it
 * receives. This class gives it the bytes in small pieces, and none while many requests are unanswered.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Unanswered requests of a connection above which HTTP receives no more bytes of it. */
const UNANSWERED_MAX = 16;
/** The bytes are fed in pieces of this size, each of which holds some dozens of requests at most. */
const PIECE_BYTES = 2 * 1024;
/** Pieces that are fed in one turn of the event loop. */
const PIECES_MAX = 8;
/** Time for feeding in one turn. A piece in chunks of one byte has some hundred chunks, each of which is expensive. */
const FEEDING_MS_MAX = 2;
/** Requests that are answered in one turn. More can be in the last piece. */
const ANSWERS_MAX = 64;

export class RoutedConnection {
  readonly #socket: Socket;
  /** HTTP's own listener for bytes. */
  readonly #feed: (bytes: Buffer) => void;
  /** The socket's own `pause` and `resume`. HTTP calls those of this class. */
  readonly #pause: () => void;
  readonly #resume: () => void;
  /** Bytes that HTTP has not received. The socket is paused until there are none: others would pile up here. */
  #unread: Buffer | null;
  #isAdvancing = false;
  /** What this connection has used since other connections had their turn: pieces fed, requests answered, time. */
  #pieces = 0;
  #answers = 0;
  #feedingMs = 0;
  /** Other connections get their turn before this one is fed again. */
  #isYielding = false;
  /**
   * HTTP wants a pause, because a body is not read or answers are not taken. HTTP asserts that it receives no bytes
   * meanwhile.
   */
  #isHttpPaused = false;
  /** Responses to requests that HTTP has parsed and not answered. */
  readonly #unanswered = new Set<ServerResponse>();

  /** `serve` gives the socket to HTTP. `bytes` were received before. */
  constructor(socket: Socket, bytes: Buffer, serve: (socket: Socket) => void) {
    this.#socket = socket;
    this.#unread = bytes;
    serve(socket);
    // Bytes must arrive in this class first.
    const [feed] = socket.listeners('data');
    this.#feed = feed as (bytes: Buffer) => void;
    socket.removeAllListeners('data');
    this.#pause = socket.pause.bind(socket);
    this.#resume = socket.resume.bind(socket);
    const pauseForHttp = () => {
      this.#isHttpPaused = true;
      this.#pause();
      return socket;
    };
    const resumeForHttp = () => {
      this.#isHttpPaused = false;
      // HTTP may be in the middle of a read, and expects no bytes before it has ended, as from a real socket.
      process.nextTick(this.advance);
      return socket;
    };
    socket.on('data', (received: Buffer) => {
      this.#unread = this.#unread === null ? received : Buffer.concat([this.#unread, received]);
      this.advance();
    });
    socket.pause = pauseForHttp;
    socket.resume = resumeForHttp;
    socket.on('drain', this.advance);
    socket.on('close', this.#end);
  }

  /** Records that HTTP has parsed a request, which this response will answer. */
  expectAnswer(response: ServerResponse): void {
    this.#unanswered.add(response);
    response.once('close', () => {
      this.#unanswered.delete(response);
      this.#answers++;
      this.advance();
    });
  }

  /** The connection ends with the answer to its latest request, which says so if it has not begun. */
  endWithAnswer(): void {
    const latest = [...this.#unanswered].at(-1);
    if (latest !== undefined) latest.shouldKeepAlive = false;
  }

  /** Feeds HTTP until it wants no more. */
  readonly advance = (): void => {
    if (this.#isAdvancing || this.#isYielding) return;
    this.#isAdvancing = true;
    while (this.#unread !== null && !this.#isHttpPaused && this.#unanswered.size < UNANSWERED_MAX) {
      if (this.#isTurnUsed) {
        this.#isYielding = true;
        setImmediate(this.#continue);
        break;
      }
      const piece = this.#unread.subarray(0, PIECE_BYTES);
      this.#unread = piece.length < this.#unread.length ? this.#unread.subarray(piece.length) : null;
      this.#pieces++;
      const startedMs = performance.now();
      this.#feed(piece);
      this.#feedingMs += performance.now() - startedMs;
    }
    this.#isAdvancing = false;
    const isPaused = this.#socket.isPaused();
    if (this.#isHttpPaused || this.#unread !== null) {
      if (!isPaused) this.#pause();
    } else if (isPaused) this.#resume();
  };

  get #isTurnUsed(): boolean {
    return this.#pieces >= PIECES_MAX || this.#answers >= ANSWERS_MAX || this.#feedingMs > FEEDING_MS_MAX;
  }

  readonly #continue = (): void => {
    this.#isYielding = false;
    this.#pieces = 0;
    this.#answers = 0;
    this.#feedingMs = 0;
    this.advance();
  };

  readonly #end = (): void => {
    this.#unread = null;
    // Node does not end them if a CONNECT followed them on the connection.
    for (const response of this.#unanswered) response.destroy();
  };
}
