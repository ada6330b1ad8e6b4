/**
 * Tests that a waiting call is checked again before it is sent: its key, its policy and its instance may have changed
 * meanwhile. Each test changes one of them while a call waits behind another.
 */
import type { InstanceInput, Policy } from '@erp-proxy/contract';
import { findVersion } from '@erp-proxy/control/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeClock, printCall, UPSTREAM_KEY } from '../execute/expectations.ts';
import { type ProxyOptions, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  printResult,
  ROLLED_BACK,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import {
  describeIssuer,
  makeClaims,
  makeKey as makeSigningKey,
  signToken,
  startIssuer,
} from '../tokens/issuer.ts';

interface QueueTest {
  proxy: RunningProxy;
  upstream: ScriptedUpstream;
  /** Bodies that reached the upstream, without the call that holds the permit and the proxy's own requests. */
  sent(): string[];
  /** Starts a call that holds the only permit of the database until `release`. */
  holdPermit(): Promise<void>;
  isHeld(): boolean;
  release(): void;
  /** Resolves when this number of calls wait for the permit. */
  waitForQueue(count: number): Promise<void>;
}

/**
 * Starts a proxy with one permit for each database. `script` answers all calls except the one that holds the permit.
 */
async function start(options: ProxyOptions = {}, script: Script = answerTrue): Promise<QueueTest> {
  let release = () => {};
  let isHeld = false;
  const upstream = await startUpstream((socket, request, index) => {
    if (!request.body.includes('hold_permit')) return script(socket, request, index);
    isHeld = true;
    release = () => answerLikeOdoo(socket, printResult('true'));
    return undefined;
  });
  closeAfterTest(upstream);
  const proxy = await startProxy({
    ...options,
    allow: [upstream.url, ...(options.allow ?? [])],
    settings: {
      'upstream.concurrency': '1',
      'upstream.refusedCredentialsTtlMs': '0',
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
      ...options.settings,
    },
  });
  closeAfterTest(proxy);
  return {
    proxy,
    upstream,
    sent: () =>
      upstream.requests
        .map(({ body }) => body.toString())
        .filter((body) => !/hold_permit|res\.users\.apikeys/.test(body)),
    async holdPermit() {
      void proxy.post(printCall(upstream.url, { action: '"hold_permit"' })).catch(() => {});
      await expect.poll(() => isHeld).toBe(true);
    },
    isHeld: () => isHeld,
    release: () => release(),
    async waitForQueue(count) {
      await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting).toBe(count);
    },
  };
}

const answerTrue: Script = (socket) => answerLikeOdoo(socket, printResult('true'));

/** A policy that allows every model of the upstream. */
const allowAll = ({ upstream }: QueueTest): Policy => ({ origins: [upstream.url], models: { '*': ['*'] } });

async function makeKey({ proxy }: QueueTest, policy: Policy | null = null, expiresAt: number | null = null) {
  const { key, record } = await proxy.app.keys.create({ name: 'app', policy, expiresAt });
  return { id: record.id, headers: { 'x-proxy-api': key } };
}

const makeInstance = (queue: QueueTest, changes: Partial<InstanceInput> = {}): InstanceInput => ({
  name: 'prod',
  url: queue.upstream.url,
  db: 'prod',
  user_id: 2,
  api_key: UPSTREAM_KEY,
  protocol: 'jsonrpc',
  ...changes,
});

const ON_PROD = '{"name":"prod"}';
const printUnlink = (url: string, id = 1) => printCall(url, { id: String(id), action: '"unlink"' });
const printSearch = (url: string) =>
  printCall(url, { action: '"search"', params: '[[]]', keyword: '{"limit":150}' });

describe('a call that waits for a permit', () => {
  test('is not sent for a key that was revoked meanwhile', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue);
    await queue.holdPermit();
    const waiting = queue.proxy.call(printUnlink(queue.upstream.url), headers);
    await queue.waitForQueue(1);
    await queue.proxy.app.keys.revoke(id);
    queue.release();
    const { status, json } = await waiting;
    expect([status, json.error.data.type]).toEqual([401, 'unauthorized']);
    expect(queue.sent()).toEqual([]);
    // The refused call has released its permit.
    expect((await queue.proxy.call(printUnlink(queue.upstream.url))).status).toBe(200);
  });

  test('is not sent for a token that expired meanwhile', async () => {
    const clock = makeClock();
    const issuer = closeAfterTest(await startIssuer());
    const policy = { origins: ['*'], models: { '*': ['*'] } };
    const settings = {
      'auth.issuers': JSON.stringify([describeIssuer(issuer, { clockSkewSeconds: 0, rules: [{ policy }] })]),
      'http.publicUrl': 'https://erp.example.com',
    };
    const queue = await start({ clock: clock.now, settings });
    const exp = Math.floor(clock.now() / 1000) + 60;
    const token = signToken(makeSigningKey('first'), makeClaims(issuer, clock.now(), { exp }));
    const send = () => queue.proxy.call(printUnlink(queue.upstream.url), { 'x-proxy-api': token });
    expect((await send()).status).toBe(200);
    await queue.holdPermit();
    const waiting = send();
    await queue.waitForQueue(1);
    clock.advance(60_000);
    queue.release();
    const { status, json } = await waiting;
    expect([status, json.error.data.type]).toEqual([401, 'unauthorized']);
    expect(queue.sent()).toHaveLength(1);
  });

  test('is not sent for a key that expired meanwhile', async () => {
    const clock = makeClock();
    const queue = await start({ clock: clock.now });
    const { headers } = await makeKey(queue, null, clock.now() + 60_000);
    await queue.holdPermit();
    const waiting = queue.proxy.call(printUnlink(queue.upstream.url), headers);
    await queue.waitForQueue(1);
    clock.advance(60_000);
    queue.release();
    expect((await waiting).status).toBe(401);
    expect(queue.sent()).toEqual([]);
  });

  test.each<[string, (policy: Policy) => Policy, string]>([
    ['model', (policy) => ({ ...policy, models: { 'sale.order': ['*'] } }), 'models'],
    ['method', (policy) => ({ ...policy, models: { 'res.partner': ['read'] } }), 'models["res.partner"]'],
    ['server', (policy) => ({ ...policy, origins: ['https://other.example.com'] }), 'origins'],
    ['right to write', (policy) => ({ ...policy, read_only: true }), 'read_only'],
    ['network', (policy) => ({ ...policy, cidrs: ['192.0.2.0/24'] }), 'cidrs'],
  ])('is not sent under a policy that meanwhile lost its %s', async (_what, narrow, rule) => {
    const queue = await start();
    const { id, headers } = await makeKey(queue, allowAll(queue));
    await queue.holdPermit();
    const waiting = queue.proxy.call(printUnlink(queue.upstream.url), headers);
    await queue.waitForQueue(1);
    await queue.proxy.app.keys.update(id, 1, { policy: narrow(allowAll(queue)) });
    queue.release();
    const { status, json } = await waiting;
    expect([status, json.error.data.rule]).toEqual([403, rule]);
    expect(queue.sent()).toEqual([]);
  });

  test('is sent with the values that the policy sets now', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue, { ...allowAll(queue), limit_max: 100 });
    await queue.holdPermit();
    const waiting = queue.proxy.call(printSearch(queue.upstream.url), headers);
    await queue.waitForQueue(1);
    const policy = { ...allowAll(queue), limit_max: 20, companies: [3] };
    await queue.proxy.app.keys.update(id, 1, { policy });
    queue.release();
    expect((await waiting).status).toBe(200);
    expect(queue.sent()).toHaveLength(1);
    expect(queue.sent()[0]).toContain('"limit":20,"context":{"allowed_company_ids":[3]}');
  });

  test('keeps its place if the change does not affect it', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue, allowAll(queue));
    const other = await makeKey(queue);
    await queue.holdPermit();
    const first = queue.proxy.call(printUnlink(queue.upstream.url, 1), headers);
    await queue.waitForQueue(1);
    const second = queue.proxy.call(printCall(queue.upstream.url, { action: '"copy"' }), other.headers);
    await queue.waitForQueue(2);
    await queue.proxy.app.keys.update(id, 1, { policy: { ...allowAll(queue), limit_max: 7 } });
    queue.release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(queue.sent().map((body) => /unlink|copy/.exec(body)?.[0])).toEqual(['unlink', 'copy']);
  });

  test('is refused if its instance was removed', async () => {
    const queue = await start();
    await queue.proxy.app.instances.add(makeInstance(queue));
    await queue.holdPermit();
    const waiting = queue.proxy.call(printCall('', { action: '"unlink"', erp_instance: ON_PROD }));
    await queue.waitForQueue(1);
    await queue.proxy.app.instances.remove(await findVersion(queue.proxy.app.instances, 'prod', 1));
    queue.release();
    const { status, json } = await waiting;
    expect([status, json.error.data.path]).toEqual([400, 'erp_instance.name']);
    expect(queue.sent()).toEqual([]);
  });

  test('goes to the present address of its instance, with the present key', async () => {
    const queue = await start();
    const elsewhere = await start();
    const target = await start({ allow: [queue.upstream.url, elsewhere.upstream.url] });
    await target.proxy.app.instances.add(makeInstance(queue));
    void target.proxy.post(printCall(queue.upstream.url, { action: '"hold_permit"' })).catch(() => {});
    await expect.poll(() => queue.isHeld()).toBe(true);
    const waiting = target.proxy.call(printCall('', { action: '"unlink"', erp_instance: ON_PROD }));
    await target.waitForQueue(1);
    await target.proxy.app.instances.update(await findVersion(target.proxy.app.instances, 'prod', 1), {
      url: elsewhere.upstream.url,
      api_key: 'another-upstream-key-0123456789',
    });
    queue.release();
    expect((await waiting).status).toBe(200);
    expect(queue.sent()).toEqual([]);
    expect(elsewhere.sent()).toHaveLength(1);
    expect(elsewhere.sent()[0]).toContain('"another-upstream-key-0123456789"');
  });

  test('releases its idempotency key if it is refused', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue, allowAll(queue));
    const protectedBy = { ...headers, 'idempotency-key': 'one' };
    await queue.holdPermit();
    const waiting = queue.proxy.call(printUnlink(queue.upstream.url), protectedBy);
    await queue.waitForQueue(1);
    await queue.proxy.app.keys.update(id, 1, { policy: { ...allowAll(queue), read_only: true } });
    queue.release();
    expect((await waiting).status).toBe(403);
    await queue.proxy.app.keys.update(id, 2, { policy: allowAll(queue) });
    const again = await queue.proxy.call(printUnlink(queue.upstream.url), protectedBy);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(queue.sent()).toHaveLength(1);
  });

  test('is checked again on the routes of ODXProxy too', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue);
    const instance = { url: queue.upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
    const call = { id: '1', model_id: 'res.partner', odoo_instance: instance };
    const { user_id: _, ...json2Instance } = instance;
    const bodies = {
      '/v1/odoo/execute': { ...call, action: 'unlink', params: [[1]] },
      '/api/odoo/execute': { ...call, action: 'unlink', params: [[1]] },
      '/v2/odoo/execute': { ...call, method: 'unlink', kwargs: { ids: [1] }, odoo_instance: json2Instance },
    };
    await queue.holdPermit();
    const waiting = Object.entries(bodies).map(([path, body]) =>
      send(queue.proxy.url + path, {
        method: 'POST',
        headers: {
          'x-api-key': headers['x-proxy-api'],
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      }),
    );
    await queue.waitForQueue(3);
    await queue.proxy.app.keys.revoke(id);
    queue.release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(queue.sent()).toEqual([]);
  });
});

test('each call of a waiting batch is checked again', async () => {
  const queue = await start();
  const { id, headers } = await makeKey(queue);
  await queue.holdPermit();
  const calls = [1, 2, 3].map((number) => printUnlink(queue.upstream.url, number));
  const waiting = queue.proxy.call(`[${calls.join(',')}]`, headers);
  await queue.waitForQueue(3);
  await queue.proxy.app.keys.revoke(id);
  queue.release();
  const { json } = await waiting;
  expect(json).toMatchObject([1, 2, 3].map((number) => ({ id: number, error: { code: -32000 } })));
  expect(queue.sent()).toEqual([]);
});

describe('a retry', () => {
  test('is not sent for a key that was revoked meanwhile', async () => {
    let revoke = async () => {};
    const queue = await start({ settings: { 'upstream.retries': '2' } }, async (socket) => {
      await revoke();
      socket.destroy();
    });
    const { id, headers } = await makeKey(queue);
    revoke = async () => void (await queue.proxy.app.keys.revoke(id));
    const { status } = await queue.proxy.call(printCall(queue.upstream.url), headers);
    expect(status).toBe(401);
    expect(queue.sent()).toHaveLength(1);
  });

  test('of a write that Odoo rolled back is not sent under a narrower policy, and releases its idempotency key', async () => {
    let narrow: (() => Promise<unknown>) | null = null;
    const queue = await start({ settings: { 'upstream.retries': '2' } }, async (socket) => {
      const isFirst = narrow !== null;
      await narrow?.();
      narrow = null;
      answerLikeOdoo(socket, isFirst ? ROLLED_BACK : printResult('true'));
    });
    const { id, headers } = await makeKey(queue, allowAll(queue));
    const protectedBy = { ...headers, 'idempotency-key': 'one' };
    narrow = () => queue.proxy.app.keys.update(id, 1, { policy: { ...allowAll(queue), read_only: true } });
    const refused = await queue.proxy.call(printUnlink(queue.upstream.url), protectedBy);
    expect([refused.status, queue.sent().length]).toEqual([403, 1]);
    await queue.proxy.app.keys.update(id, 2, { policy: allowAll(queue) });
    const again = await queue.proxy.call(printUnlink(queue.upstream.url), protectedBy);
    expect([again.status, queue.sent().length]).toEqual([200, 2]);
  });
});

describe('a shared read', () => {
  test('continues for the others if the key that started it is revoked in the queue', async () => {
    const queue = await start();
    const [leader, other] = [await makeKey(queue), await makeKey(queue)];
    await queue.holdPermit();
    const first = queue.proxy.call(printCall(queue.upstream.url), leader.headers);
    await queue.waitForQueue(1);
    const second = queue.proxy.call(printCall(queue.upstream.url), other.headers);
    await queue.waitForQueue(2);
    await queue.proxy.app.keys.revoke(leader.id);
    queue.release();
    expect([(await first).status, (await second).status]).toEqual([401, 200]);
    expect(queue.sent()).toHaveLength(1);
  });

  test('continues for the others if the key that started it is revoked before a retry', async () => {
    let answer = () => {};
    const queue = await start({ settings: { 'upstream.retries': '1' } }, (socket, _request, index) => {
      answer = () => (index === 0 ? void socket.destroy() : answerLikeOdoo(socket, printResult('true')));
      if (index > 0) answer();
    });
    const [leader, other] = [await makeKey(queue), await makeKey(queue)];
    const first = queue.proxy.call(printCall(queue.upstream.url), leader.headers);
    await expect.poll(() => queue.sent().length).toBe(1);
    const second = queue.proxy.call(printCall(queue.upstream.url), other.headers);
    await isJoined(queue, other.id);
    await queue.proxy.app.keys.revoke(leader.id);
    answer();
    expect([(await first).status, (await second).status]).toEqual([401, 200]);
    expect(queue.sent()).toHaveLength(2);
  });

  test('is not returned to a key that was revoked while it waited', async () => {
    let answer = () => {};
    const queue = await start({}, (socket) => {
      answer = () => answerLikeOdoo(socket, printResult(`"${'x'.repeat(100_000)}"`));
    });
    const [leader, follower] = [await makeKey(queue), await makeKey(queue)];
    const first = queue.proxy.call(printCall(queue.upstream.url), leader.headers);
    await expect.poll(() => queue.sent().length).toBe(1);
    const second = queue.proxy.call(printCall(queue.upstream.url), follower.headers);
    await isJoined(queue, follower.id);
    await queue.proxy.app.keys.revoke(follower.id);
    answer();
    expect([(await first).status, (await second).status]).toEqual([200, 401]);
    expect(queue.sent()).toHaveLength(1);
  });

  test('is not returned under another policy than that of the request', async () => {
    const queue = await start();
    const { id, headers } = await makeKey(queue, { ...allowAll(queue), limit_max: 100 });
    await queue.holdPermit();
    const calls = [1, 2].map(() => queue.proxy.call(printSearch(queue.upstream.url), headers));
    await queue.waitForQueue(1);
    await queue.proxy.app.keys.update(id, 1, { policy: { ...allowAll(queue), limit_max: 20 } });
    queue.release();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    for (const body of queue.sent()) expect(body).toContain('"limit":20');
  });
});

test('a call that waited for the check of its credentials is not sent for a revoked key', async () => {
  const queue = await start({
    settings: { 'upstream.concurrency': '10', 'upstream.refusedCredentialsTtlMs': '60000' },
  });
  const { id, headers } = await makeKey(queue);
  await queue.holdPermit();
  // The first call with these credentials runs; this one waits up to a second for its outcome.
  const waiting = queue.proxy.call(printUnlink(queue.upstream.url), headers);
  await expect.poll(() => isUsed(queue, id)).toBe(true);
  await queue.proxy.app.keys.revoke(id);
  expect((await waiting).status).toBe(401);
  expect(queue.sent()).toEqual([]);
});

test('a call that waited for the protocol of its server is not sent for a revoked key', async () => {
  let answer = () => {};
  const queue = await start({ settings: { 'upstream.protocol': 'auto' } }, (socket, { body }) => {
    answer = () =>
      answerLikeOdoo(
        socket,
        printResult(
          '{"server_version": "16.0", "server_version_info": [16, 0, 0, "final", 0, ""], "server_serie": "16.0", "protocol_version": 1}',
        ),
      );
    if (!body.includes('"common"')) answer();
  });
  const { id, headers } = await makeKey(queue);
  const waiting = queue.proxy.call(printUnlink(queue.upstream.url), headers);
  await expect.poll(() => queue.sent().length).toBe(1);
  await queue.proxy.app.keys.revoke(id);
  answer();
  expect((await waiting).status).toBe(401);
  expect(queue.sent()).toHaveLength(1);
});

test('a version request sends no second request for a key that was revoked meanwhile', async () => {
  let revoke = async () => {};
  const queue = await start({}, async (socket) => {
    await revoke();
    answerLikeOdoo(socket, '', '404 NOT FOUND');
  });
  const { id, headers } = await makeKey(queue);
  revoke = async () => void (await queue.proxy.app.keys.revoke(id));
  const { status } = await send(`${queue.proxy.url}/api/erp/version`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, url: queue.upstream.url }),
  });
  expect(status).toBe(401);
  expect(queue.sent()).toHaveLength(1);
});

/** Resolves when the key was checked, so that its call is in progress. */
async function isUsed({ proxy }: QueueTest, id: string): Promise<boolean> {
  await proxy.app.keys.flush();
  return (await proxy.app.store.keys.findById(id))?.lastUsedAt !== null;
}

/**
 * Resolves when a call has joined another. Nothing reports that, so this waits for the check of the key and a moment
 * more.
 */
async function isJoined(queue: QueueTest, id: string): Promise<void> {
  await expect.poll(() => isUsed(queue, id)).toBe(true);
  await pause();
}
