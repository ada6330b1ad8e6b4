/** The minimal proxy with node:http and undici: reads the body, forwards it, and returns the answer. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';

export async function start(upstreamPort: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { pipelining: 1 });
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      const headers = { 'content-type': 'application/json' };
      pool.dispatch({ method: 'POST', path: request.url ?? '/', headers, body }, passOn(response));
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Passes the answer of an upstream on. */
export function passOn(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': headers['content-length'] as string,
      });
    },
    onResponseData(controller, piece) {
      if (response.write(piece)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      response.destroy();
    },
  };
}
