/** Makes the server listen, and explains to the operator why it cannot. */
import type { FastifyInstance } from 'fastify';
import { StartError } from '../config/start-error.ts';
import type { ConnectionLimit } from './connection-limit.ts';

/**
 * Maximum connections that wait to be accepted. With Node's default of 511, clients of a larger burst retry only after
 * a second.
 */
const BACKLOG = 4096;

export interface ListenAddress {
  host: string;
  /** 0 for any free port. */
  port: number;
}

/** Resolves to the base address of the server. Rejects with a {@link StartError} if the address cannot be used. */
export async function listen(
  app: FastifyInstance,
  { host, port }: ListenAddress,
  connectionLimit: ConnectionLimit,
): Promise<string> {
  connectionLimit.apply(app.server);
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  const hostname = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${hostname}:${address.port}`;
}

function explainListenError(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} on ${host} is taken; end what uses it, or choose another with --http.port.`,
      );
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user; choose one above 1023.`);
    case 'EADDRNOTAVAIL':
      return new StartError(`${host} is not an address of this machine; see http.host.`);
    default:
      return error;
  }
}
