/** http-proxy with an agent that keeps connections open if the upstream does. Without the agent it keeps none. */
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import httpProxy from 'http-proxy';

export async function start(upstreamPort: number): Promise<number> {
  const proxy = httpProxy.createProxyServer({
    target: `http://127.0.0.1:${upstreamPort}`,
    agent: new Agent({ keepAlive: true }),
  });
  proxy.on('error', (_error, _request, response) => response.destroy());
  const server = createServer((request, response) => proxy.web(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
