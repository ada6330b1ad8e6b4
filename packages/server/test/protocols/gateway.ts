/** A reverse proxy in front of a sandbox that changes answers as a test defines, like real reverse proxies. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeAfterTest } from '../close-after-test.ts';

export interface Passing {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The answer in place of the server's; null forwards the request. */
export type Rule = (request: Passing) => Reply | null | Promise<Reply | null>;

export interface Reply {
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Writes the whole answer itself. */
  write?: (response: ServerResponse) => void;
}

export interface Gateway {
  url: string;
  /** Every request, whoever answered it. */
  requests: Passing[];
  rule: Rule;
  close(): Promise<void>;
}

/** Closed after the current test. */
export async function openGateway(behind: { url: string }, rule: Rule): Promise<Gateway> {
  const requests: Passing[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const passing = { method, path, headers, body: (await buffer(request)).toString() };
    requests.push(passing);
    const reply = await gateway.rule(passing);
    if (reply === null) return forward(behind.url, passing, response);
    if (reply.write) return reply.write(response);
    response.writeHead(reply.status, { 'content-type': reply.type ?? 'text/html', ...reply.headers });
    response.end(reply.body ?? '<h1>a page</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    rule,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return closeAfterTest(gateway);
}

function forward(url: string, { method, path, headers, body }: Passing, response: ServerResponse): void {
  const request = httpRequest(`${url}${path}`, { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  request.on('error', () => response.destroy());
  request.end(body);
}

/** How often a method was sent over each protocol, whatever the outcome. */
export function countSent({ requests }: Gateway, method: string): { jsonrpc: number; json2: number } {
  return {
    jsonrpc: requests.filter(({ path, body }) => path === '/jsonrpc' && body.includes(`"${method}",[`))
      .length,
    json2: requests.filter(({ path }) => path.startsWith('/json/2/') && path.endsWith(`/${method}`)).length,
  };
}

/** Number of requests that are not calls: for the version, for the user of a key, and for doc pages. */
export function countAsked({ requests }: Gateway): { version: number; user: number; page: number } {
  return {
    version: requests.filter(({ body }) => body.includes('"common"')).length,
    user: requests.filter(({ path }) => path.endsWith('/context_get')).length,
    page: requests.filter(({ path }) => path.startsWith('/doc-bearer')).length,
  };
}
