/** For tests: servers on a free port of 127.0.0.1. */
import { once } from 'node:events';
import type { Server } from 'node:net';

/** Resolves to the port when the server listens. */
export async function listenOnFreePort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on TCP.');
  return address.port;
}
