/** Tests `POST /api/erp/version`: one shape for all versions of Odoo, and the rules of the execute call. */
import { startSandbox } from '@erp-proxy/sandbox';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from './close-after-test.ts';
import { expectError, waitFor } from './execute/expectations.ts';
import { type HttpAnswer, send, startProxy } from './harness.ts';
import { type Pair, startPair } from './pair.ts';
import { answerLikeOdoo, printResult, type Script } from './scripted-upstream.ts';

const ask = (
  { url, key }: { url: string; key: string },
  body: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  send(`${url}/api/erp/version`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function start(script?: Script, settings: Record<string, string> = {}): Promise<Pair> {
  return closeAfterTest(await startPair(script, { settings }));
}

describe.each([14, 15, 16, 17, 18, 19, 22] as const)('of Odoo %i', (version) => {
  test('is returned in Odoo’s own members, from its public pages only', async () => {
    const sandbox = closeAfterTest(await startSandbox({ version }));
    const proxy = closeAfterTest(await startProxy({ allow: [sandbox.url] }));
    const { status, body } = await ask(proxy, { id: 7, url: `${sandbox.url}/` });
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {
        server_version: expect.stringMatching(new RegExp(`^${version}\\.0`)),
        server_version_info: [version, 0, 0, 'final', 0, ''],
        server_serie: `${version}.0`,
        protocol_version: 1,
      },
    });
    // The version pages write a session file at each request (docs/odoo-facts.md#sessions-written), so only servers
    // without /jsonrpc get such a request.
    expect(sandbox.requests.routes).toEqual(
      version === 22 ? { '/jsonrpc': 1, '/json/version': 1 } : { '/jsonrpc': 1 },
    );
  });
});

test('sends no key and no database, and keeps the path prefix', async () => {
  const { proxy, upstream } = await start((socket) => answerLikeOdoo(socket, '', '404 Not Found'));
  await ask(proxy, { url: `${upstream.url}/erp/` });
  expect(upstream.requests.map(({ head }) => head.split(' HTTP')[0])).toEqual([
    'POST /erp/jsonrpc',
    'GET /erp/json/version',
  ]);
  for (const { head } of upstream.requests) {
    expect(head).not.toContain(proxy.key);
    expect(head).not.toMatch(/authorization|x-odoo-database|cookie/i);
  }
});

test('checks the key first', async () => {
  const { proxy, upstream } = await start();
  const answer = await ask(proxy, { id: 1, url: upstream.url }, { 'x-proxy-api': 'bad' });
  expectError(answer, { status: 401, code: -32000, type: 'unauthorized', says: /x-proxy-api/ });
  expect(upstream.connections()).toBe(0);
});

test('reaches no address that the operator does not allow', async () => {
  const { proxy } = await start();
  for (const url of ['http://127.0.0.1:9', 'https://169.254.169.254', 'http://[::ffff:127.0.0.1]:9']) {
    expectError(await ask(proxy, { id: 1, url }), {
      status: 403,
      code: -32011,
      type: 'egress_denied',
      id: 1,
      path: 'url',
      says: /egress\.allow/,
    });
  }
});

test.each([
  ['[]', null, undefined, /empty/],
  ['[{"url":"https://x.example"}]', null, undefined, /one object/],
  ['7', null, undefined, /object/],
  ['{"id":1}', 1, 'url', /`url` is missing/],
  ['{"id":1,"url":7}', 1, 'url', /must be a string/],
  ['{"id":1,"url":"x"}', 1, 'url', /`url` is not a URL/],
  ['{"id":1,"url":"https://u:p@x.example"}', 1, 'url', /`url` must not/],
  ['{"id":1,"url":"https://x.example","url":"https://y.example"}', 1, 'url', /twice/],
  ['{"id":1,"url":"https://x.example","db":"x"}', 1, 'db', /not a member/],
  ['{"id":1,"ulr":"https://x.example"}', 1, 'ulr', /Did you mean `url`/],
  ['{"id":1,"erp_instance":{"url":"https://x.example"}}', 1, 'erp_instance', /Did you mean `url`/],
  ['{"id":1.5,"url":"https://x.example"}', null, 'id', /integer/],
])('refuses %s', async (body, id, path, says) => {
  const { proxy } = await start();
  const expected = { status: 400, code: -32600, type: 'invalid_request', id, says };
  expectError(await ask(proxy, body), path === undefined ? expected : { ...expected, path });
});

test('tolerates `jsonrpc`, as the execute call does', async () => {
  const { proxy, upstream } = await start();
  const { status } = await ask(proxy, { jsonrpc: '2.0', id: 1, url: upstream.url });
  expect(status).toBe(502);
});

const VERSION = '"server_version":"19.0","server_serie":"19.0","protocol_version":1';
test.each([
  ['a page', '<html>'],
  ['another result', printResult('true')],
  ['an error', '{"jsonrpc": "2.0", "id": 1, "error": {"code": 200, "message": "no", "data": {}}}'],
  ['members of another type', printResult(`{${VERSION},"server_version_info":"19"}`)],
  [
    'nested members',
    printResult(`{${VERSION},"server_version_info":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
  ],
  ['an answer too large', printResult(`{${VERSION},"server_version_info":["${'x'.repeat(100_000)}"]}`)],
  ['nothing', ''],
])('is an error if the server answers with %s', async (_, text) => {
  const { proxy, upstream } = await start((socket) => answerLikeOdoo(socket, text));
  expectError(await ask(proxy, { id: 1, url: upstream.url }), {
    status: 502,
    code: -32005,
    type: 'upstream_bad_response',
    id: 1,
    outcome: 'unknown',
    says: /`url`/,
  });
});

test('is an error if neither page exists, and the message does not mention erp_instance', async () => {
  const { proxy, upstream } = await start((socket) => answerLikeOdoo(socket, '<html>', '404 Not Found'));
  const answer = await ask(proxy, { id: 1, url: upstream.url });
  expect(answer.status).toBe(502);
  expect(answer.body.toString()).not.toContain('erp_instance');
});

test('ends within its time limit', async () => {
  const { proxy, upstream } = await start(() => {});
  const answer = await ask(proxy, { id: 1, url: upstream.url }, { 'x-request-timeout': '1' });
  expectError(answer, {
    status: 504,
    code: -32003,
    type: 'upstream_timeout',
    id: 1,
    retryable: true,
    outcome: 'unknown',
    says: /in time/,
  });
});

test('is retryable if there was no answer', async () => {
  const { proxy, upstream } = await start((socket) => {
    socket.resetAndDestroy();
  });
  expectError(await ask(proxy, { id: 1, url: upstream.url }), {
    status: 502,
    code: -32004,
    type: 'upstream_unreachable',
    id: 1,
    retryable: true,
    outcome: 'unknown',
    says: /without an answer/,
  });
});

test('is one line of the log, with the server and no method', async () => {
  const { proxy, upstream } = await start();
  await ask(proxy, { id: 'q', url: upstream.url });
  const line = await waitFor(() => proxy.log.find(({ msg }) => msg === 'call'));
  expect(line).toMatchObject({ id: '"q"', upstream: upstream.url, db: null, model: null, method: null });
});
