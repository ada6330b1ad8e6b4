/**
 * The minimal proxy with node:http and undici, for an upstream with https. The header `x-upstream-port` names another
 * port of the upstream than the one that it was started with.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { TEST_CERTIFICATE } from '../../packages/egress/test/test-certificate.ts';
import { passOn } from './by-hand-undici.ts';

export async function start(upstreamPort: number): Promise<number> {
  // As many as the load generator has connections.
  const agent = new Agent({ pipelining: 1, connections: 16, connect: { ca: TEST_CERTIFICATE } });
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const origin = `https://localhost:${request.headers['x-upstream-port'] ?? upstreamPort}`;
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      const headers = { 'content-type': 'application/json' };
      agent.dispatch({ origin, method: 'POST', path: request.url ?? '/', headers, body }, passOn(response));
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
