import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ENDLESS_MS, expectCpuBelow, measureMs } from '../../server/test/time.ts';
import { exchange } from '../test/exchange.ts';
import { executeKw, speak } from '../test/speak.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from './index.ts';

const open: Sandbox[] = [];
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  return sandbox;
}

async function call(
  sandbox: Sandbox,
  model: string,
  method: string,
  args: unknown[],
  key = sandbox.users.admin.apiKey,
) {
  const params = {
    service: 'object',
    method: 'execute_kw',
    args: [sandbox.db, sandbox.users.admin.userId, key, model, method, args],
  };
  const response = await fetch(`${sandbox.url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'call', params }),
  });
  return (await response.json()) as { result?: unknown; error?: { data: { name: string; debug: string } } };
}

test('starts as 18 on the loopback interface and answers a read', async () => {
  const sandbox = await start();
  expect(sandbox.version).toBe(18);
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await call(sandbox, 'res.partner', 'read', [[3], ['name']])).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: [{ id: 3, name: 'Mitchell Admin' }],
  });
});

test('reset restores the data, and two sandboxes share nothing', async () => {
  const [one, other] = [await start(), await start()];
  await call(one, 'res.partner', 'write', [[3], { name: 'Changed' }]);
  expect((await call(other, 'res.partner', 'read', [[3], ['name']])).result).toEqual([
    { id: 3, name: 'Mitchell Admin' },
  ]);
  one.reset();
  expect((await call(one, 'res.partner', 'read', [[3], ['name']])).result).toEqual([
    { id: 3, name: 'Mitchell Admin' },
  ]);
});

test('counts requests, calls by method and wrong keys', async () => {
  const sandbox = await start();
  await call(sandbox, 'res.partner', 'read', [[3], ['name']]);
  await call(sandbox, 'res.partner', 'read', [[3], ['name']]);
  await call(sandbox, 'res.partner', 'read', [[3], ['name']], 'wrong');
  expect(sandbox.requests).toMatchObject({ total: 3, calls: { 'res.partner.read': 2 }, wrongKeys: 1 });
});

test('counts requests by route, even if the version lacks it', async () => {
  const sandbox = await start({ version: 22 });
  await call(sandbox, 'res.partner', 'read', [[3]]).catch(() => undefined);
  await speak(sandbox, '/json/2/res.partner/read', { body: { ids: [3], fields: ['name'] } });
  await speak(sandbox, '/json/2', { body: {} });
  for (const path of [
    '/doc-bearer/index.json',
    '/doc-bearer/res.partner.json',
    '/web/version',
    '/json/version',
  ])
    await speak(sandbox, path);
  await speak(sandbox, '/no/such/path');
  expect(sandbox.requests).toMatchObject({
    total: 8,
    calls: { 'res.partner.read': 1 },
    routes: {
      '/jsonrpc': 1,
      '/json/2': 2,
      '/doc-bearer': 2,
      '/web/version': 1,
      '/json/version': 1,
      other: 1,
    },
  });
});

describe('upgrade', () => {
  test('keeps the port, the data and the counters, and changes the version', async () => {
    const sandbox = await start({ version: 18 });
    await executeKw(sandbox, 'res.partner', 'write', [[3], { ref: 'kept' }]);
    for (const version of [19, 22] as const) {
      sandbox.upgrade(version);
      expect(sandbox.version).toBe(version);
      const body = { ids: [3], fields: ['ref'] };
      expect((await speak(sandbox, '/json/2/res.partner/read', { body })).body).toEqual([
        { id: 3, ref: 'kept' },
      ]);
    }
    expect((await speak(sandbox, '/jsonrpc', { body: {} })).status).toBe(404);
    expect(sandbox.requests.calls).toEqual({ 'res.partner.write': 1, 'res.partner.read': 2 });
    sandbox.reset();
    const body = { ids: [3], fields: ['ref'] };
    expect((await speak(sandbox, '/json/2/res.partner/read', { body })).body).toEqual([
      { id: 3, ref: false },
    ]);
  });

  test('answers a running request with the version that received it', async () => {
    const sandbox = await start({ version: 19 });
    const arrival = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    sandbox.beforeCall(() => {
      arrival.resolve();
      return gate.promise;
    });
    const begun = call(sandbox, 'res.partner', 'read', [[3], ['name']]);
    await arrival.promise;
    sandbox.upgrade(22);
    expect((await speak(sandbox, '/jsonrpc', { body: {} })).status).toBe(404);
    gate.resolve();
    expect((await begun).result).toEqual([{ id: 3, name: 'Mitchell Admin' }]);
  });
});

test('a wrong key takes as long as configured, a correct one no time', async () => {
  const authDelayMs = 200;
  const slow = await start({ authDelayMs });
  const tookMs = await measureMs(async () => {
    const { error } = await call(slow, 'res.partner', 'read', [[3]], 'wrong');
    expect(error?.data.name).toBe('odoo.exceptions.AccessDenied');
  });
  expect(tookMs).toBeGreaterThanOrEqual(authDelayMs - 1);
  const endless = await start({ authDelayMs: ENDLESS_MS });
  expect((await call(endless, 'res.partner', 'read', [[3], ['name']])).result).toHaveLength(1);
});

test('an error contains a traceback with server paths, so that tests detect leaks', async () => {
  const { error } = await call(await start(), 'res.partner', 'nope', [[3]]);
  expect(error?.data.debug).toMatch(/^Traceback \(most recent call last\):\n {2}File "\/opt\/odoo\//);
});

test('keepAlive keeps the connection open for several requests', async () => {
  const sandbox = await start({ keepAlive: true });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = () =>
    new Promise<{ reused: boolean; version: string; body: string }>((resolve, reject) => {
      const outgoing = request(`${sandbox.url}/web/health`, { agent }, async (response) => {
        let body = '';
        for await (const chunk of response) body += chunk;
        resolve({ reused: outgoing.reusedSocket, version: response.httpVersion, body });
      });
      outgoing.on('error', reject).end();
    });
  expect(await send()).toEqual({ reused: false, version: '1.1', body: '{"status": "pass"}' });
  expect(await send()).toEqual({ reused: true, version: '1.1', body: '{"status": "pass"}' });
  agent.destroy();
});

test('without keepAlive each answer is HTTP/1.0 and closes the connection', async () => {
  const sandbox = await start();
  const answer = await exchange(sandbox.url, {
    method: 'GET',
    path: '/web/health',
    httpVersion: '1.1',
    headers: [['Connection', 'keep-alive']],
    body: null,
  });
  expect(answer.httpVersion).toBe('1.0');
  expect(answer.headers.at(-1)).toEqual(['Connection', 'close']);
});

test('survives a client that disconnects inside its body, and an unusual path', async () => {
  const sandbox = await start();
  const { hostname, port } = new URL(sandbox.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => {
    socket.write(
      'POST /jsonrpc HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"id"',
      () => resolve(),
    );
  });
  socket.destroy();
  for (const path of ['//', '*', '/%zz', '/a?b?c']) {
    const odd = { method: 'GET', path, httpVersion: '1.1', headers: [], body: null };
    expect((await exchange(sandbox.url, odd)).status).toBeLessThan(500);
  }
  expect((await call(sandbox, 'res.partner', 'read', [[3], ['name']])).result).toHaveLength(1);
});

test('starts with less work than 20 calls', async () => {
  const sandbox = await start();
  const makeCalls = async () => {
    for (let count = 0; count < 20; count++) await call(sandbox, 'res.partner', 'read', [[3], ['name']]);
  };
  await expectCpuBelow(1, () => start({ version: 19 }), makeCalls);
});
