/** HTTP 502: no answer from the server, or one that is not Odoo's. `outcome` says whether a write may have run. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { type ExpectedError, expectError, printCall, printInstance, waitFor } from './expectations.ts';

let pair: Pair;

type Rest = Pick<ExpectedError, 'retryable' | 'outcome' | 'says'>;
const unreachable = (rest: Rest) => ({
  status: 502,
  code: -32004,
  type: 'upstream_unreachable',
  id: 1,
  ...rest,
});
const badResponse = (rest: Rest) => ({
  status: 502,
  code: -32005,
  type: 'upstream_bad_response',
  id: 1,
  ...rest,
});

const read = (url = pair.upstream.url) =>
  pair.proxy.post(printCall('', { erp_instance: printInstance(url) }));
const write = (url = pair.upstream.url) =>
  pair.proxy.post(printCall('', { action: '"write"', params: '[[1],{}]', erp_instance: printInstance(url) }));

/** An address that the proxy may reach. `answer` gets the port that listens there. */
async function startServer(scheme: string, listening: (server: Server) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.0 400 Bad Request\r\n\r\n');
  });
  closeAfterTest(server).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  listening(server);
  return `${scheme}://127.0.0.1:${port}`;
}

describe('upstream_unreachable', () => {
  test('if the connection is refused: nothing was sent', async () => {
    const url = await startServer('http', (server) => server.close());
    pair = closeAfterTest(await startPair(undefined, { allow: [url] }));
    const expected = unreachable({
      retryable: true,
      outcome: 'not_sent',
      says: /refuses connections.*was not run/,
    });
    expectError(await read(url), expected);
    expectError(await write(url), expected);
  });

  test('if the host does not exist: nothing was sent', async () => {
    pair = closeAfterTest(await startPair());
    const expected = unreachable({
      retryable: true,
      outcome: 'not_sent',
      says: /no address; check its spelling/,
    });
    expectError(await write('https://erp.invalid'), expected);
  });

  test('if TLS fails: nothing was sent', async () => {
    const url = await startServer('https', () => {});
    pair = closeAfterTest(await startPair(undefined, { allow: [url] }));
    expectError(
      await write(url),
      unreachable({ retryable: true, outcome: 'not_sent', says: /TLS handshake/ }),
    );
  });

  test.each<[string, Script]>([
    ['is closed', (socket) => socket.end()],
    ['is reset', (socket) => socket.resetAndDestroy()],
    [
      'breaks within the head',
      (socket) => {
        socket.end('HTTP/1.0 200 OK\r\nContent-Le');
      },
    ],
  ])('if the connection %s after the request: a write may have run', async (_name, script) => {
    pair = closeAfterTest(await startPair(script));
    expectError(await read(), unreachable({ retryable: true, outcome: 'unknown', says: /only reads/ }));
    expectError(await write(), unreachable({ outcome: 'unknown', says: /may have run the call/ }));
  });

  test('if a short answer is cut off', async () => {
    pair = closeAfterTest(
      await startPair((socket) => {
        socket.end(`HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n${printResult('[1]')}`);
      }),
    );
    expectError(
      await read(),
      unreachable({ retryable: true, outcome: 'unknown', says: /broke its answer off/ }),
    );
    expectError(await write(), unreachable({ outcome: 'unknown', says: /broke its answer off/ }));
  });

  test('by a 502 of a reverse proxy', async () => {
    pair = closeAfterTest(
      await startPair((socket) => answerLikeOdoo(socket, '<h1>502</h1>', '502 Bad Gateway')),
    );
    expectError(await read(), unreachable({ retryable: true, outcome: 'unknown', says: /reverse proxy/ }));
    expectError(await write(), unreachable({ outcome: 'unknown', says: /reverse proxy/ }));
  });
});

describe('upstream_bad_response', () => {
  test('by endless interim answers, and the connection is closed', async () => {
    let isClosed = false;
    pair = closeAfterTest(
      await startPair((socket) => {
        socket.on('close', () => {
          isClosed = true;
        });
        const flood = () => {
          if (!socket.destroyed)
            socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), () => setImmediate(flood));
        };
        flood();
      }),
    );
    expectError(await read(), badResponse({ outcome: 'unknown', says: /not HTTP|interim|Odoo/ }));
    await waitFor(() => isClosed);
  });

  test.each([
    ['301 Moved Permanently', 'not_sent'],
    ['302 Found', 'unknown'],
    ['303 See Other', 'unknown'],
    ['304 Not Modified', 'unknown'],
    ['307 Temporary Redirect', 'unknown'],
    ['308 Permanent Redirect', 'not_sent'],
    ['400 Bad Request', 'not_sent'],
    ['401 Unauthorized', 'not_sent'],
    ['403 Forbidden', 'not_sent'],
    ['404 Not Found', 'not_sent'],
    ['415 Unsupported Media Type', 'not_sent'],
    ['500 Internal Server Error', 'unknown'],
    ['501 Not Implemented', 'unknown'],
    ['599 Odd', 'unknown'],
    ['201 Created', 'unknown'],
    ['204 No Content', 'unknown'],
  ] as const)('by the status %s', async (status, outcome) => {
    pair = closeAfterTest(
      await startPair((socket) =>
        answerLikeOdoo(socket, status.startsWith('204') ? '' : '<h1>page</h1>', status),
      ),
    );
    const advice = status.startsWith('500') ? 'log of the server' : 'base address';
    const says = new RegExp(`HTTP ${status.slice(0, 3)}.*${advice}`);
    const answer = await read();
    expectError(answer, badResponse({ outcome, says }));
    // Another attempt would get the same answer.
    expect(answer.body.toString()).not.toMatch(/be sent again/);
    expectError(await write(), badResponse({ outcome, says }));
  });

  test('follows no redirects', async () => {
    pair = closeAfterTest(
      await startPair((socket, { head }) => {
        if (head.startsWith('POST /jsonrpc')) {
          socket.end(
            `HTTP/1.0 302 Found\r\nLocation: ${pair.upstream.url}/other\r\nContent-Length: 0\r\n\r\n`,
          );
        } else answerLikeOdoo(socket, printResult('true'));
      }),
    );
    expect((await read()).status).toBe(502);
    expect(pair.upstream.requests).toHaveLength(1);
  });

  test('by a server that redirects every request, as from http to https', async () => {
    const redirect: Script = (socket) => answerLikeOdoo(socket, '', '302 Found');
    pair = closeAfterTest(await startPair(redirect, { settings: { 'upstream.protocol': 'auto' } }));
    const says = /correct scheme and prefix; redirects are not followed/;
    expectError(await read(), badResponse({ outcome: 'not_sent', says }));
    expectError(await write(), badResponse({ outcome: 'not_sent', says }));
  });

  test.each([
    ['HTML', '<!DOCTYPE html><html><body>Welcome</body></html>'],
    ['nothing', ''],
    ['a cut result', '{"jsonrpc": "2.0", "id": 1, "result": [1'],
    ['NaN', printResult('NaN')],
    ['two results', printResult('1') + printResult('2')],
    ['another object', '{"hello":"world"}'],
    ['an array', '[]'],
    ['a number', '7'],
    [
      'invalid UTF-8',
      Buffer.from([...Buffer.from('{"jsonrpc": "2.0", "id": 1, "result": "'), 0xff, 0x22, 0x7d]),
    ],
  ])('by %s with status 200', async (_name, body) => {
    pair = closeAfterTest(await startPair((socket) => answerLikeOdoo(socket, body)));
    expectError(
      await read(),
      badResponse({ outcome: 'unknown', says: /base address|not JSON|NaN or Infinity/ }),
    );
    expectError(
      await write(),
      badResponse({ outcome: 'unknown', says: /base address|not JSON|NaN or Infinity/ }),
    );
  });

  test('by an unusual answer too large to be checked', async () => {
    pair = closeAfterTest(
      await startPair((socket) => answerLikeOdoo(socket, `{"id":1,"result":"${'x'.repeat(3000)}"}`), {
        settings: { 'upstream.answerBytesMax': '2000' },
      }),
    );
    expectError(await read(), badResponse({ outcome: 'unknown', says: /too large to be checked/ }));
  });

  test.each(['SSH-2.0-OpenSSH_9\r\n', 'HTTP/1.1 abc\r\n\r\n', '\x16\x03\x01', '220 mail ready\r\n'])(
    'by an answer that is not HTTP: %j',
    async (bytes) => {
      pair = closeAfterTest(
        await startPair((socket) => {
          socket.end(bytes);
        }),
      );
      expectError(await write(), badResponse({ outcome: 'unknown', says: /not HTTP/ }));
    },
  );

  test('shows nothing of the page that was returned', async () => {
    pair = closeAfterTest(
      await startPair((socket) => answerLikeOdoo(socket, 'do-not-show', '500 do-not-show')),
    );
    const answer = await read();
    expect(answer.body.toString() + JSON.stringify(answer.headers)).not.toContain('do-not-show');
  });
});
