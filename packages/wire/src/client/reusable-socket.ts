/**
 * A socket to a server, which passes its events to one user at a time. Plain sockets are used again: after its
 * `close` event, Node lets a socket connect anew. A new one for each call would cost more than its own objects, because
 * V8 keeps every socket, and all that its listeners refer to, until the next full collection
 * (docs/decisions/0026-garbage-and-wake-ups.md). Does not know which address it connects to, or what the bytes mean.
 */
import { Socket, type TcpSocketConnectOpts } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { atTurnEnd } from '../turn-end.ts';

/** Gets the events of a socket, until it destroys the socket or the socket has closed. */
export interface SocketUser {
  onConnect?(): void;
  onBytes(bytes: Buffer): void;
  /** The server has ended the connection. */
  onEnd(): void;
  onError(error: Error): void;
  onClose(): void;
}

/** Maximum number of closed sockets that are kept. */
const CLOSED_MAX = 256;
/**
 * All plain connections are read into this buffer, and their users get copies. Without it, Node allocates 64 KiB for
 * each read, however short the answer is.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** The plain sockets of a dialer that can be used again. */
export class ClosedSockets {
  readonly #sockets: ReusableSocket[] = [];

  /** A socket that is not connected yet. */
  take(): ReusableSocket {
    return this.#sockets.pop() ?? new ReusableSocket(null, this);
  }

  add(socket: ReusableSocket): void {
    if (this.#sockets.length < CLOSED_MAX) this.#sockets.push(socket);
  }
}

export class ReusableSocket {
  /** Null after the user has destroyed the socket, and after the socket has closed. */
  user: SocketUser | null = null;
  readonly #socket: Socket;
  readonly #closed: ClosedSockets | null;
  /**
   * False after an error, a pause, an end by the server, or a cancelled opening: only a socket in the plainest state is
   * used again.
   */
  #isReusable = true;
  /** Between `destroy` and the `close` event. */
  #isDestroyed = false;

  /** `socket`: a connected TLS socket; null: a new plain one, which is added to `closed` each time it has closed. */
  constructor(socket: TLSSocket | null, closed: ClosedSockets | null) {
    const onread = { buffer: READ_BUFFER, callback: (length: number) => this.#takeRead(length) };
    this.#socket = socket ?? new Socket({ noDelay: true, onread });
    this.#closed = closed;
    if (socket !== null) socket.on('data', (bytes: Buffer) => this.user?.onBytes(bytes));
    this.#socket.on('connect', () => this.user?.onConnect?.());
    this.#socket.on('end', () => {
      this.#isReusable = false;
      this.user?.onEnd();
    });
    // An error event without a listener would end the process.
    this.#socket.on('error', (error) => {
      this.#isReusable = false;
      this.user?.onError(error);
    });
    this.#socket.on('close', () => this.#onClose());
  }

  get isOpen(): boolean {
    return !this.#isDestroyed && !this.#socket.destroyed;
  }

  /** It still holds bytes that were written. */
  get isSending(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Undefined if the connection has been closed already. */
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  connect(options: TcpSocketConnectOpts, user: SocketUser): void {
    this.user = user;
    this.#socket.connect(options);
  }

  /** `onSent` is called after the bytes were sent, or with an error. */
  write(bytes: Uint8Array, onSent?: (error?: Error | null) => void): void {
    this.#socket.write(bytes, onSent);
  }

  pause(): void {
    this.#isReusable = false;
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /**
   * The user gets no more events, and must not use the socket any more: it may soon be another user's. Closes it at the
   * end of this turn of the event loop: connections that are closed together wake their server only once.
   */
  destroy(): void {
    this.user = null;
    this.#isDestroyed = true;
    // Node tries several addresses in turn by timers. One of a former server must never be reached for another call.
    if (this.#socket.connecting) this.#isReusable = false;
    atTurnEnd('close', null, () => {
      // Otherwise it has closed by itself, and may have another user.
      if (this.#isDestroyed) this.#socket.destroy();
    });
  }

  #takeRead(length: number): boolean {
    this.user?.onBytes(Buffer.from(READ_BUFFER.subarray(0, length)));
    return true;
  }

  #onClose(): void {
    const { user } = this;
    this.user = null;
    user?.onClose();
    // Its user may have destroyed it once more.
    this.#isDestroyed = false;
    if (this.#isReusable && !this.isSending) this.#closed?.add(this);
  }
}
