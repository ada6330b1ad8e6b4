/** Tests calls to a stored instance by its name: its key stays secret, and its members apply to its calls. */
import { randomBytes } from 'node:crypto';
import type { InstanceInput } from '@erp-proxy/contract';
import { findVersion } from '@erp-proxy/control/testing';
import { afterEach, expect, test } from 'vitest';
import { expectError, printCall, printExecuteKw, UPSTREAM_KEY } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { answerTrue, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';
import { measureMs, pause } from '../time.ts';

const VAULT = { 'vault.masterKey': randomBytes(32).toString('base64') };
let upstream: ScriptedUpstream;
let proxy: ErpProxy;
afterEach(async () => {
  await proxy.close();
  await upstream.close();
});

/** A proxy whose settings do not allow the upstream. Only the instance allows it. */
async function start(script = answerTrue, members: Partial<InstanceInput> = {}): Promise<void> {
  upstream = await startUpstream(script);
  proxy = await startProxy({ settings: VAULT });
  await proxy.app.instances.add({
    name: 'prod',
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: UPSTREAM_KEY,
    allow_private: true,
    ...members,
  });
}

const NAMED = printCall('', { erp_instance: '{"name":"prod"}' });
const UNSHARED = { 'cache-control': 'no-cache' };

test('sends the stored database, user and key, and records the instance', async () => {
  await start();
  const { status, json } = await proxy.call(NAMED);
  expect({ status, json }).toEqual({ status: 200, json: { jsonrpc: '2.0', id: 1, result: true } });
  // The proxy also asks Odoo for the expiry of the key, so there are further requests.
  expect(upstream.requests.map(({ body }) => body.toString())).toContain(printExecuteKw({}));
  await expect
    .poll(() => proxy.log.find(({ msg }) => msg === 'call'))
    .toMatchObject({ instance: 'prod', upstream: upstream.url, db: 'prod' });
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({});
  expect(items).toMatchObject([{ kind: 'call', instance: 'prod', action: 'read', outcome: 'ok' }]);
});

test('refuses an unknown name', async () => {
  await start();
  expectError(await proxy.post(printCall('', { erp_instance: '{"name":"test"}' })), {
    status: 400,
    code: -32600,
    type: 'invalid_request',
    id: 1,
    path: 'erp_instance.name',
    says: /no instance of this name/,
  });
});

test('allows the address for the instance, but not for calls by url', async () => {
  await start();
  expect((await proxy.call(NAMED)).status).toBe(200);
  const instance = JSON.stringify({ url: upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY });
  const { status, json } = await proxy.call(printCall('', { erp_instance: instance }));
  expect(status).toBe(403);
  expect(json.error.data.type).toBe('egress_denied');
});

test('is refused without allow_private', async () => {
  await start(answerTrue, { allow_private: false });
  expect((await proxy.call(NAMED)).json.error.data.type).toBe('egress_denied');
});

test('has its own time limit, unless the caller sets one', async () => {
  await start(() => {}, { timeout_ms: 100 });
  const { status, json } = await proxy.call(NAMED);
  expect(status).toBe(504);
  expect(json.error.data.type).toBe('upstream_timeout');
  const tookMs = await measureMs(async () => {
    expect((await proxy.call(NAMED, { 'x-request-timeout': '1' })).status).toBe(504);
  });
  expect(tookMs).toBeGreaterThanOrEqual(1000 - 1);
});

test('runs its calls up to its concurrency, and queues the others', async () => {
  let [running, most] = [0, 0];
  await start(
    async (...exchange) => {
      most = Math.max(most, ++running);
      await pause();
      running--;
      return answerTrue(...exchange);
    },
    { concurrency: 2 },
  );
  const answers = await Promise.all(Array.from({ length: 9 }, () => proxy.call(NAMED, UNSHARED)));
  expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(200));
  expect(most).toBe(2);
});

test('calls that wait for its concurrency do not delay other calls to the database', async () => {
  const held: (() => void)[] = [];
  const members = { concurrency: 1, key_expires_at: '2099-01-01T00:00:00Z' };
  await start((...exchange) => {
    if (!exchange[1].body.includes('[[99]]')) return answerTrue(...exchange);
    held.push(() => void answerTrue(...exchange));
  }, members);
  const { url } = upstream;
  const other = { url, db: 'prod', user_id: 3, api_key: 'b'.repeat(40), allow_private: true };
  await proxy.app.instances.add({ name: 'other', ...other, ...members });
  // Calls with unknown credentials wait for the first call with the same credentials.
  expect((await proxy.call(NAMED)).status).toBe(200);
  const slow = printCall('', { params: '[[99]]', erp_instance: '{"name":"prod"}' });
  const calls = Array.from({ length: 3 }, () => proxy.call(slow, UNSHARED));
  await expect.poll(() => [held.length, proxy.app.databaseLimiters.states()[0]?.waiting]).toEqual([1, 2]);
  for (let call = 0; call < 5; call++) {
    const answer = await proxy.call(printCall('', { erp_instance: '{"name":"other"}' }), UNSHARED);
    expect(answer.status).toBe(200);
  }
  expect(held).toHaveLength(1);
  for (let call = 1; call <= 3; call++) {
    await expect.poll(() => held.length).toBe(call);
    held.at(-1)?.();
  }
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test('counts a call until its answer is sent', async () => {
  const part = JSON.stringify('x'.repeat(100_000)).slice(0, -1);
  let [running, most] = [0, 0];
  await start(
    async (socket) => {
      most = Math.max(most, ++running);
      const head = '{"jsonrpc": "2.0", "id": 1, "result": ';
      socket.write(
        `HTTP/1.0 200 OK\r\nContent-Length: ${head.length + part.length + 2}\r\n\r\n${head}${part}`,
      );
      await pause();
      running--;
      socket.end('"}');
    },
    { concurrency: 1, key_expires_at: '2099-01-01T00:00:00Z' },
  );
  const answers = await Promise.all(Array.from({ length: 4 }, () => proxy.call(NAMED, UNSHARED)));
  expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
  expect(most).toBe(1);
});

test('stays open for others if a method itself refuses a password', async () => {
  const refusal = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code: 200,
      message: 'Odoo Server Error',
      data: { name: 'odoo.exceptions.AccessDenied', message: 'Access Denied', arguments: ['Access Denied'] },
    },
  });
  await start((socket, request, index) => {
    if (!request.body.includes('change_password')) return answerTrue(socket, request, index);
    socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`);
  });
  const change = printCall('', {
    model_id: '"res.users"',
    action: '"change_password"',
    params: '["wrong","new"]',
    erp_instance: '{"name":"prod"}',
  });
  for (let attempt = 0; attempt < 3; attempt++) {
    expect((await proxy.call(change)).json.error.data.type).toBe('access_denied');
    expect((await proxy.call(NAMED)).json).toMatchObject({ result: true });
  }
});

test('is not affected by failures of calls by url to the same address', async () => {
  const fixture = await startUpstream(answerTrue);
  upstream = fixture;
  proxy = await startProxy({ allow: [fixture.url], settings: { ...VAULT, 'upstream.protocol': 'auto' } });
  const instance = { url: fixture.url, db: 'prod', user_id: 2, api_key: 'b'.repeat(40), allow_private: true };
  await proxy.app.instances.add({ name: 'prod', ...instance, key_expires_at: '2099-01-01T00:00:00Z' });
  const byUrl = { url: fixture.url, db: 'prod', user_id: 2, api_key: 'b'.repeat(40) };
  await proxy.call(printCall('', { erp_instance: JSON.stringify(byUrl) }));
  await proxy.call(NAMED);
  const questions = fixture.requests.filter(({ body }) => body.includes('"version"'));
  expect(questions).toHaveLength(2);
});

test('is called over its protocol', async () => {
  await start(answerTrue, { protocol: 'json2', api_key: 'a'.repeat(40) });
  await proxy.call(NAMED);
  expect(upstream.requests[0]?.head).toMatch(/^POST \/json\/2\//);
});

test('a change applies to the next call', async () => {
  await start();
  await proxy.call(NAMED);
  expect(
    await proxy.app.instances.update(await findVersion(proxy.app.instances, 'prod', 1), {
      db: 'other',
      api_key: 'another-key',
    }),
  ).toBe('done');
  await proxy.call(NAMED);
  expect(upstream.requests.at(-1)?.body.toString()).toContain('["other",2,"another-key"');
  expect(await proxy.app.instances.remove(await findVersion(proxy.app.instances, 'prod', 2))).toBe('done');
  expect((await proxy.call(NAMED)).status).toBe(400);
});

test('never shows its key', async () => {
  const secret = 'do-not-show-this-key-0123456789';
  await start(
    (socket, request) => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: 200,
          message: 'Odoo Server Error',
          data: { name: 'odoo.exceptions.UserError', message: request.body.toString(), arguments: [] },
        },
      });
      socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
    { api_key: secret },
  );
  const { body } = await proxy.post(NAMED);
  expect(body.toString()).toContain('execute_kw');
  await proxy.app.audit.flush();
  const seen = [body.toString(), JSON.stringify(proxy.log), JSON.stringify(await proxy.app.audit.search({}))];
  for (const text of seen) expect(text).not.toContain(secret);
});
