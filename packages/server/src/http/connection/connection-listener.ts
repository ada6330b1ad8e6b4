/**
 * Receives the connections of a server. Each one begins as a {@link PlainConnection}, and becomes a
 * {@link RoutedConnection} with the first request that is not a plain call.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PlainConnection, type PlainConnectionOptions, type ServedPath } from './plain-connection.ts';
import { RoutedConnection } from './routed-connection.ts';

export interface ConnectionListenerOptions
  extends Pick<
    PlainConnectionOptions,
    'loadShedder' | 'findAddress' | 'bodyBytesMax' | 'bodyBudget' | 'idleTimeoutMs' | 'requestTimeoutMs'
  > {}

type ConnectionHandler = (this: Server, socket: Socket) => void;

export class ConnectionListener {
  readonly #paths = new Map<string, ServedPath>();
  readonly #plain = new Set<PlainConnection>();
  readonly #routed = new WeakMap<Socket, RoutedConnection>();
  #isStopping = false;

  constructor(server: Server, options: ConnectionListenerOptions) {
    // Node documents emitting 'connection' as the way to give its HTTP server a socket.
    const handlers = server.listeners('connection') as ConnectionHandler[];
    server.removeAllListeners('connection');
    const serve = (socket: Socket) => {
      for (const handler of handlers) handler.call(server, socket);
    };
    const connectionOptions: PlainConnectionOptions = {
      ...options,
      paths: this.#paths,
      isStopping: () => this.#isStopping,
      handOver: (socket, bytes) => {
        const routed = new RoutedConnection(socket, bytes, serve);
        this.#routed.set(socket, routed);
        routed.advance();
      },
      onGone: (connection) => void this.#plain.delete(connection),
    };
    server.on('connection', (socket: Socket) => {
      options.loadShedder.noteConnection();
      // The last connections: the server can close those that Node's HTTP has.
      if (this.#isStopping) serve(socket);
      else this.#plain.add(new PlainConnection(socket, connectionOptions));
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#routed.get(socket)?.expectAnswer(response);
    });
  }

  /** Serves plain `POST` requests to this path. */
  serve(path: string, served: ServedPath): void {
    this.#paths.set(path, served);
  }

  /** To be called before the server closes: closes connections without a request, and others after their answer. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#plain) connection.stop();
  }
}
