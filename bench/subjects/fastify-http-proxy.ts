/** @fastify/http-proxy, set up as in its documentation. */
import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

export async function start(upstreamPort: number): Promise<number> {
  const app = fastify();
  app.register(httpProxy, { upstream: `http://127.0.0.1:${upstreamPort}` });
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}
