/** Puts the {@link LoadShedder} in front of a server: every connection is guarded before Node's HTTP has it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GuardedConnection } from './guarded-connection.ts';
import type { LoadShedder, PermitRequest } from './load-shedder.ts';
import type { Refusal } from './refuse.ts';

export interface ConnectionListenerOptions {
  door: LoadShedder;
  /** So long a client may be silent before its first request, and between two that are refused. */
  silentMs: number;
  /** Time for the rest of a request that was refused. */
  requestTimeoutMs: number;
}

type Serve = (this: Server, socket: Socket) => void;

export class ConnectionListener {
  readonly #door: LoadShedder;
  readonly #refusals = new Map<string, Refusal>();
  readonly #connections = new WeakMap<Socket, GuardedConnection>();
  /** Those that HTTP does not know of, and would not close at the end. */
  readonly #ahead = new Set<GuardedConnection>();

  constructor(server: Server, { door, silentMs, requestTimeoutMs }: ConnectionListenerOptions) {
    this.#door = door;
    // Node documents the event as the way to give its HTTP a connection.
    const serve = server.listeners('connection') as Serve[];
    server.removeAllListeners('connection');
    const means = {
      door,
      refusals: this.#refusals,
      silentMs,
      requestTimeoutMs,
      serve: (socket: Socket) => {
        for (const listener of serve) listener.call(server, socket);
      },
      onLeft: (connection: GuardedConnection) => void this.#ahead.delete(connection),
    };
    server.on('connection', (socket: Socket) => {
      door.welcome();
      const connection = new GuardedConnection(socket, means);
      this.#connections.set(socket, connection);
      this.#ahead.add(connection);
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#connections.get(socket)?.expectAnswer(response);
    });
  }

  /** `POST` to this path is asked for at the door. */
  guard(path: string, refusal: Refusal): void {
    this.#refusals.set(path, refusal);
  }

  /** A request to a guarded path that HTTP has read. Most have been at the door by then. */
  enter({ socket }: IncomingMessage, visitor: PermitRequest): void {
    if (this.#connections.get(socket)?.isLetIn) visitor.letIn();
    else this.#door.enter(visitor);
  }

  /** Before the server closes: whoever waits is let in, and connections without a request are closed. */
  stop(): void {
    this.#door.letAllIn();
    for (const connection of this.#ahead) connection.stop();
  }
}
