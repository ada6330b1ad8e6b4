/** Passes every connection of a server through a {@link GuardedConnection} before Node's HTTP receives it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GuardedConnection } from './guarded-connection.ts';
import type { LoadShedder, SheddableRequest } from './load-shedder.ts';
import type { OverloadAnswer } from './overload-answer.ts';

export interface ConnectionListenerOptions {
  loadShedder: LoadShedder;
  /** Maximum idle time of a client before its first request, and between two refused requests. */
  idleTimeoutMs: number;
  /** Time for the rest of a request that was refused. */
  requestTimeoutMs: number;
}

type ConnectionHandler = (this: Server, socket: Socket) => void;

export class ConnectionListener {
  readonly #loadShedder: LoadShedder;
  readonly #overloadAnswers = new Map<string, OverloadAnswer>();
  readonly #connections = new WeakMap<Socket, GuardedConnection>();
  /** Connections that Node's HTTP has not received, and would not close when the server closes. */
  readonly #unserved = new Set<GuardedConnection>();

  constructor(server: Server, { loadShedder, idleTimeoutMs, requestTimeoutMs }: ConnectionListenerOptions) {
    this.#loadShedder = loadShedder;
    // Node documents emitting 'connection' as the way to give its HTTP server a socket.
    const handlers = server.listeners('connection') as ConnectionHandler[];
    server.removeAllListeners('connection');
    const options = {
      loadShedder,
      overloadAnswers: this.#overloadAnswers,
      idleTimeoutMs,
      requestTimeoutMs,
      serve: (socket: Socket) => {
        for (const handler of handlers) handler.call(server, socket);
      },
      onServedOrClosed: (connection: GuardedConnection) => void this.#unserved.delete(connection),
    };
    server.on('connection', (socket: Socket) => {
      loadShedder.noteConnection();
      const connection = new GuardedConnection(socket, options);
      this.#connections.set(socket, connection);
      this.#unserved.add(connection);
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#connections.get(socket)?.expectAnswer(response);
    });
  }

  /** Submits `POST` requests to this path to the load shedder. */
  guard(path: string, overloadAnswer: OverloadAnswer): void {
    this.#overloadAnswers.set(path, overloadAnswer);
  }

  /** True for a request to a guarded path that was admitted before Node's HTTP parsed it. Most are. */
  wasAdmitted({ socket }: IncomingMessage): boolean {
    return this.#connections.get(socket)?.isAdmitting ?? false;
  }

  /** Submits a request to a guarded path that was not admitted before. */
  submit(request: SheddableRequest): void {
    this.#loadShedder.submit(request);
  }

  /** To be called before the server closes: admits waiting requests, and closes connections without a request. */
  stop(): void {
    this.#loadShedder.admitAll();
    for (const connection of this.#unserved) connection.stop();
  }
}
