/**
 * Receives the connections of a server. Each one begins as a {@link PlainConnection}, and becomes a
 * {@link RoutedConnection} with the first request that is not a plain call.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PlainConnection, type PlainConnectionOptions, type ServedPath } from './plain-connection.ts';
import { RoutedConnection } from './routed-connection.ts';

export interface ConnectionListenerOptions
  extends Pick<PlainConnectionOptions, 'admission' | 'collectBody' | 'idleTimeoutMs' | 'requestTimeoutMs'> {}

type ConnectionHandler = (this: Server, socket: Socket) => void;

export class ConnectionListener {
  readonly #paths = new Map<string, ServedPath>();
  readonly #plain = new Set<PlainConnection>();
  readonly #routed = new Map<Socket, RoutedConnection>();
  #isDraining = false;
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
      isDraining: () => this.#isDraining,
      isStopping: () => this.#isStopping,
      handOver: (socket, bytes) => {
        const routed = new RoutedConnection(socket, bytes, serve);
        this.#routed.set(socket, routed);
        socket.once('close', () => void this.#routed.delete(socket));
        routed.advance();
      },
      onGone: (connection) => void this.#plain.delete(connection),
    };
    server.on('connection', (socket: Socket) => {
      options.admission.recordConnection();
      // Node's HTTP gets the connections that arrive while the server stops: the server can close those.
      if (this.#isStopping) serve(socket);
      else this.#plain.add(new PlainConnection(socket, connectionOptions));
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const routed = this.#routed.get(socket);
      routed?.expectAnswer(response);
      if (this.#isDraining) routed?.endWithAnswer();
    });
  }

  /** Serves plain `POST` requests to this path. */
  serve(path: string, served: ServedPath): void {
    this.#paths.set(path, served);
  }

  /**
   * To be called when a graceful stop begins: answers say that their connection closes. Otherwise a client could send
   * its next request at the moment at which the server closes, and would not know whether it ran.
   */
  drain(): void {
    this.#isDraining = true;
    for (const routed of this.#routed.values()) routed.endWithAnswer();
  }

  /** To be called before the server closes: closes connections without a request, and others after their answer. */
  stop(): void {
    this.#isDraining = true;
    this.#isStopping = true;
    for (const connection of this.#plain) connection.stop();
  }
}
