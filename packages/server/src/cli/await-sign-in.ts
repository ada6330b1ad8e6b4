/**
 * Waits at 127.0.0.1 for the browser in which a person signs in (RFC 8252), and answers it with a page. Knows nothing
 * of the proxy.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { escapeHtml } from '@erp-proxy/text';

const CODE = /^[\w-]{43}$/;
/** Time for the browser to take its answer. */
const LAST_ANSWER_MS = 1000;
const PROBLEM = /^\w{1,20}$/;

/** What the browser brings: the code for the session, or why there is none. */
export type SignInResult = { code: string } | { problem: string };

export interface WaitingServer {
  readonly port: number;
  /** Resolves when the browser comes. `answer` shows a sentence in the browser, and can be called once. */
  readonly result: Promise<SignInResult & { answer: (sentence: string) => void }>;
  /** The browser still gets its answer. */
  close(): void;
}

export async function startWaitingServer(): Promise<WaitingServer> {
  const arrived = Promise.withResolvers<Awaited<WaitingServer['result']>>();
  let isAwaited = true;
  const server = createServer((request, response) => {
    const result = request.method === 'GET' ? readResult(request.url ?? '') : null;
    // Browsers send a name as host if a page of the web has made the name lead to this machine.
    if (request.headers.host !== `127.0.0.1:${port}` || result === null || !isAwaited) {
      response.writeHead(404).end();
      return;
    }
    isAwaited = false;
    arrived.resolve({ ...result, answer: (sentence) => showPage(sentence, response) });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    result: arrived.promise,
    close() {
      server.close();
      server.closeIdleConnections();
      // Browsers open connections in advance, which would keep the program running.
      setTimeout(() => server.closeAllConnections(), LAST_ANSWER_MS).unref();
    },
  };
}

/** Reads the address at which the browser ends; null if it is another one. */
export function readResult(address: string): SignInResult | null {
  const query = URL.parse(address.trim(), 'http://127.0.0.1')?.searchParams;
  const code = query?.get('code') ?? '';
  const problem = query?.get('problem') ?? '';
  if (CODE.test(code)) return { code };
  return PROBLEM.test(problem) ? { problem } : null;
}

function showPage(sentence: string, response: ServerResponse): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  };
  response
    .writeHead(200, headers)
    .end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>erp-proxy</title><body style="font: 1.1rem system-ui; margin: 15vh auto; max-width: 32rem; padding: 0 1rem"><h1>erp-proxy</h1><p>${escapeHtml(sentence)}</p>`,
    );
}
