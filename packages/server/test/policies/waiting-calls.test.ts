/**
 * A call that waits is judged again before it is sent: its key, its policy and its instance may have changed meanwhile.
 * Each test changes one of them while a call waits behind another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceInput, Policy } from '@erp-proxy/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { makeClock, printCall, UPSTREAM_KEY } from '../execute/expectations.ts';
import { type ProxyOptions, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  printResult,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';

const PATIENT = { timeout: 10_000, interval: 5 };
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Stage {
  proxy: RunningProxy;
  upstream: ScriptedUpstream;
  /** Bodies that reached the upstream, without the call that holds its one turn and what the proxy itself asks. */
  sent(): string[];
  /** Starts a call that holds the one turn of the database until `letGo`. */
  holdPermit(): Promise<void>;
  isHeld(): boolean;
  letGo(): void;
  /** Waits until this number of calls wait for the turn. */
  waitForQueue(count: number): Promise<void>;
}

/** A proxy that sends one call at once to a database; `script` answers all calls but the one that holds the turn. */
async function start(options: ProxyOptions = {}, script: Script = answerTrue): Promise<Stage> {
  let letGo = () => {};
  let isHeld = false;
  const upstream = await startUpstream((socket, request, index) => {
    if (!request.body.includes('hold_turn')) return script(socket, request, index);
    isHeld = true;
    letGo = () => answerLikeOdoo(socket, printResult('true'));
    return undefined;
  });
  open.push(upstream);
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
  open.push(proxy);
  return {
    proxy,
    upstream,
    sent: () =>
      upstream.requests
        .map(({ body }) => body.toString())
        .filter((body) => !/hold_turn|res\.users\.apikeys/.test(body)),
    async holdPermit() {
      void proxy.post(printCall(upstream.url, { action: '"hold_turn"' })).catch(() => {});
      await expect.poll(() => isHeld, PATIENT).toBe(true);
    },
    isHeld: () => isHeld,
    letGo: () => letGo(),
    async waitForQueue(count) {
      await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(count);
    },
  };
}

const answerTrue: Script = (socket) => answerLikeOdoo(socket, printResult('true'));

/** A policy that allows every model of the upstream. */
const allowAll = ({ upstream }: Stage): Policy => ({ origins: [upstream.url], models: { '*': ['*'] } });

async function makeKey({ proxy }: Stage, policy: Policy | null = null, expiresAt: number | null = null) {
  const { key, record } = await proxy.app.keys.create({ name: 'app', policy, expiresAt });
  return { id: record.id, headers: { 'x-proxy-api': key } };
}

const makeInstance = (stage: Stage, changes: Partial<InstanceInput> = {}): InstanceInput => ({
  name: 'prod',
  url: stage.upstream.url,
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

describe('a call that waits for its turn', () => {
  test('is not sent for a key that was revoked meanwhile', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage);
    await stage.holdPermit();
    const waiting = stage.proxy.call(printUnlink(stage.upstream.url), headers);
    await stage.waitForQueue(1);
    await stage.proxy.app.keys.revoke(id);
    stage.letGo();
    const { status, json } = await waiting;
    expect([status, json.error.data.type]).toEqual([401, 'unauthorized']);
    expect(stage.sent()).toEqual([]);
    // The turn was given back.
    expect((await stage.proxy.call(printUnlink(stage.upstream.url))).status).toBe(200);
  });

  test('is not sent for a key that expired meanwhile', async () => {
    const clock = makeClock();
    const stage = await start({ clock: clock.now });
    const { headers } = await makeKey(stage, null, clock.now() + 60_000);
    await stage.holdPermit();
    const waiting = stage.proxy.call(printUnlink(stage.upstream.url), headers);
    await stage.waitForQueue(1);
    clock.advance(60_000);
    stage.letGo();
    expect((await waiting).status).toBe(401);
    expect(stage.sent()).toEqual([]);
  });

  test.each<[string, (policy: Policy) => Policy, string]>([
    ['model', (policy) => ({ ...policy, models: { 'sale.order': ['*'] } }), 'models'],
    ['method', (policy) => ({ ...policy, models: { 'res.partner': ['read'] } }), 'models["res.partner"]'],
    ['server', (policy) => ({ ...policy, origins: ['https://other.example.com'] }), 'origins'],
    ['right to write', (policy) => ({ ...policy, read_only: true }), 'read_only'],
    ['network', (policy) => ({ ...policy, cidrs: ['192.0.2.0/24'] }), 'cidrs'],
  ])('is not sent under a policy that meanwhile lost its %s', async (_what, narrow, rule) => {
    const stage = await start();
    const { id, headers } = await makeKey(stage, allowAll(stage));
    await stage.holdPermit();
    const waiting = stage.proxy.call(printUnlink(stage.upstream.url), headers);
    await stage.waitForQueue(1);
    await stage.proxy.app.keys.update(id, 1, { policy: narrow(allowAll(stage)) });
    stage.letGo();
    const { status, json } = await waiting;
    expect([status, json.error.data.rule]).toEqual([403, rule]);
    expect(stage.sent()).toEqual([]);
  });

  test('is sent with what the policy sets now', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage, { ...allowAll(stage), limit_max: 100 });
    await stage.holdPermit();
    const waiting = stage.proxy.call(printSearch(stage.upstream.url), headers);
    await stage.waitForQueue(1);
    const policy = { ...allowAll(stage), limit_max: 20, companies: [3] };
    await stage.proxy.app.keys.update(id, 1, { policy });
    stage.letGo();
    expect((await waiting).status).toBe(200);
    expect(stage.sent()).toHaveLength(1);
    expect(stage.sent()[0]).toContain('"limit":20,"context":{"allowed_company_ids":[3]}');
  });

  test('keeps its place where the change does not touch it', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage, allowAll(stage));
    const other = await makeKey(stage);
    await stage.holdPermit();
    const first = stage.proxy.call(printUnlink(stage.upstream.url, 1), headers);
    await stage.waitForQueue(1);
    const second = stage.proxy.call(printCall(stage.upstream.url, { action: '"copy"' }), other.headers);
    await stage.waitForQueue(2);
    await stage.proxy.app.keys.update(id, 1, { policy: { ...allowAll(stage), limit_max: 7 } });
    stage.letGo();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(stage.sent().map((body) => /unlink|copy/.exec(body)?.[0])).toEqual(['unlink', 'copy']);
  });

  test('is refused where its instance was removed', async () => {
    const stage = await start();
    await stage.proxy.app.instances.add(makeInstance(stage));
    await stage.holdPermit();
    const waiting = stage.proxy.call(printCall('', { action: '"unlink"', erp_instance: ON_PROD }));
    await stage.waitForQueue(1);
    await stage.proxy.app.instances.remove('prod', 1);
    stage.letGo();
    const { status, json } = await waiting;
    expect([status, json.error.data.path]).toEqual([400, 'erp_instance.name']);
    expect(stage.sent()).toEqual([]);
  });

  test('goes where its instance leads now, with the key that it has now', async () => {
    const stage = await start();
    const elsewhere = await start();
    const target = await start({ allow: [stage.upstream.url, elsewhere.upstream.url] });
    await target.proxy.app.instances.add(makeInstance(stage));
    void target.proxy.post(printCall(stage.upstream.url, { action: '"hold_turn"' })).catch(() => {});
    await expect.poll(() => stage.isHeld(), PATIENT).toBe(true);
    const waiting = target.proxy.call(printCall('', { action: '"unlink"', erp_instance: ON_PROD }));
    await target.waitForQueue(1);
    await target.proxy.app.instances.update('prod', 1, {
      url: elsewhere.upstream.url,
      api_key: 'another-upstream-key-0123456789',
    });
    stage.letGo();
    expect((await waiting).status).toBe(200);
    expect(stage.sent()).toEqual([]);
    expect(elsewhere.sent()).toHaveLength(1);
    expect(elsewhere.sent()[0]).toContain('"another-upstream-key-0123456789"');
  });

  test('leaves its idempotency key free when it is refused', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage, allowAll(stage));
    const protectedBy = { ...headers, 'idempotency-key': 'one' };
    await stage.holdPermit();
    const waiting = stage.proxy.call(printUnlink(stage.upstream.url), protectedBy);
    await stage.waitForQueue(1);
    await stage.proxy.app.keys.update(id, 1, { policy: { ...allowAll(stage), read_only: true } });
    stage.letGo();
    expect((await waiting).status).toBe(403);
    await stage.proxy.app.keys.update(id, 2, { policy: allowAll(stage) });
    const again = await stage.proxy.call(printUnlink(stage.upstream.url), protectedBy);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(stage.sent()).toHaveLength(1);
  });

  test('is judged again on the routes of ODXProxy too', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage);
    const instance = { url: stage.upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
    const call = { id: '1', model_id: 'res.partner', odoo_instance: instance };
    const { user_id: _, ...json2Instance } = instance;
    const bodies = {
      '/v1/odoo/execute': { ...call, action: 'unlink', params: [[1]] },
      '/api/odoo/execute': { ...call, action: 'unlink', params: [[1]] },
      '/v2/odoo/execute': { ...call, method: 'unlink', kwargs: { ids: [1] }, odoo_instance: json2Instance },
    };
    await stage.holdPermit();
    const waiting = Object.entries(bodies).map(([path, body]) =>
      send(stage.proxy.url + path, {
        method: 'POST',
        headers: {
          'x-api-key': headers['x-proxy-api'],
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      }),
    );
    await stage.waitForQueue(3);
    await stage.proxy.app.keys.revoke(id);
    stage.letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(stage.sent()).toEqual([]);
  });
});

test('each call of a batch that waits is judged again', async () => {
  const stage = await start();
  const { id, headers } = await makeKey(stage);
  await stage.holdPermit();
  const calls = [1, 2, 3].map((number) => printUnlink(stage.upstream.url, number));
  const waiting = stage.proxy.call(`[${calls.join(',')}]`, headers);
  await stage.waitForQueue(3);
  await stage.proxy.app.keys.revoke(id);
  stage.letGo();
  const { json } = await waiting;
  expect(json).toMatchObject([1, 2, 3].map((number) => ({ id: number, error: { code: -32000 } })));
  expect(stage.sent()).toEqual([]);
});

describe('a retry', () => {
  test('is not sent for a key that was revoked meanwhile', async () => {
    let revoke = async () => {};
    const stage = await start({ settings: { 'upstream.retries': '2' } }, async (socket) => {
      await revoke();
      socket.destroy();
    });
    const { id, headers } = await makeKey(stage);
    revoke = async () => void (await stage.proxy.app.keys.revoke(id));
    const { status } = await stage.proxy.call(printCall(stage.upstream.url), headers);
    expect(status).toBe(401);
    expect(stage.sent()).toHaveLength(1);
  });

  test('of a write that Odoo has rolled back is not sent under a narrower policy, and frees its idempotency key', async () => {
    let narrow: (() => Promise<unknown>) | null = null;
    const conflict = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: 200,
        message: 'Odoo Server Error',
        data: { name: 'psycopg2.errors.SerializationFailure', message: 'x', arguments: ['x'], context: {} },
      },
    });
    const stage = await start({ settings: { 'upstream.retries': '2' } }, async (socket) => {
      const isFirst = narrow !== null;
      await narrow?.();
      narrow = null;
      answerLikeOdoo(socket, isFirst ? conflict : printResult('true'));
    });
    const { id, headers } = await makeKey(stage, allowAll(stage));
    const protectedBy = { ...headers, 'idempotency-key': 'one' };
    narrow = () => stage.proxy.app.keys.update(id, 1, { policy: { ...allowAll(stage), read_only: true } });
    const refused = await stage.proxy.call(printUnlink(stage.upstream.url), protectedBy);
    expect([refused.status, stage.sent().length]).toEqual([403, 1]);
    await stage.proxy.app.keys.update(id, 2, { policy: allowAll(stage) });
    const again = await stage.proxy.call(printUnlink(stage.upstream.url), protectedBy);
    expect([again.status, stage.sent().length]).toEqual([200, 2]);
  });
});

describe('a read that several share', () => {
  test('goes on for the others where the key that began it is revoked in line', async () => {
    const stage = await start();
    const [leader, other] = [await makeKey(stage), await makeKey(stage)];
    await stage.holdPermit();
    const first = stage.proxy.call(printCall(stage.upstream.url), leader.headers);
    await stage.waitForQueue(1);
    const second = stage.proxy.call(printCall(stage.upstream.url), other.headers);
    await stage.waitForQueue(2);
    await stage.proxy.app.keys.revoke(leader.id);
    stage.letGo();
    expect([(await first).status, (await second).status]).toEqual([401, 200]);
    expect(stage.sent()).toHaveLength(1);
  });

  test('goes on for the others where the key that began it is revoked before a retry', async () => {
    let answer = () => {};
    const stage = await start({ settings: { 'upstream.retries': '1' } }, (socket, _request, index) => {
      answer = () => (index === 0 ? void socket.destroy() : answerLikeOdoo(socket, printResult('true')));
      if (index > 0) answer();
    });
    const [leader, other] = [await makeKey(stage), await makeKey(stage)];
    const first = stage.proxy.call(printCall(stage.upstream.url), leader.headers);
    await expect.poll(() => stage.sent().length, PATIENT).toBe(1);
    const second = stage.proxy.call(printCall(stage.upstream.url), other.headers);
    await isJoined(stage, other.id);
    await stage.proxy.app.keys.revoke(leader.id);
    answer();
    expect([(await first).status, (await second).status]).toEqual([401, 200]);
    expect(stage.sent()).toHaveLength(2);
  });

  test('gives its answer to no key that was revoked while it waited for it', async () => {
    let answer = () => {};
    const stage = await start({}, (socket) => {
      answer = () => answerLikeOdoo(socket, printResult(`"${'x'.repeat(100_000)}"`));
    });
    const [leader, follower] = [await makeKey(stage), await makeKey(stage)];
    const first = stage.proxy.call(printCall(stage.upstream.url), leader.headers);
    await expect.poll(() => stage.sent().length, PATIENT).toBe(1);
    const second = stage.proxy.call(printCall(stage.upstream.url), follower.headers);
    await isJoined(stage, follower.id);
    await stage.proxy.app.keys.revoke(follower.id);
    answer();
    expect([(await first).status, (await second).status]).toEqual([200, 401]);
    expect(stage.sent()).toHaveLength(1);
  });

  test('is given to nobody under another policy than it was asked under', async () => {
    const stage = await start();
    const { id, headers } = await makeKey(stage, { ...allowAll(stage), limit_max: 100 });
    await stage.holdPermit();
    const calls = [1, 2].map(() => stage.proxy.call(printSearch(stage.upstream.url), headers));
    await stage.waitForQueue(1);
    await stage.proxy.app.keys.update(id, 1, { policy: { ...allowAll(stage), limit_max: 20 } });
    stage.letGo();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    for (const body of stage.sent()) expect(body).toContain('"limit":20');
  });
});

test('a call that waited for the verdict on its credentials is not sent for a revoked key', async () => {
  const stage = await start({
    settings: { 'upstream.concurrency': '10', 'upstream.refusedCredentialsTtlMs': '60000' },
  });
  const { id, headers } = await makeKey(stage);
  await stage.holdPermit();
  // The first call with these credentials runs: this one waits up to a second for what comes of it.
  const waiting = stage.proxy.call(printUnlink(stage.upstream.url), headers);
  await expect.poll(() => isUsed(stage, id), PATIENT).toBe(true);
  await stage.proxy.app.keys.revoke(id);
  expect((await waiting).status).toBe(401);
  expect(stage.sent()).toEqual([]);
});

test('a call that waited for what its server speaks is not sent for a revoked key', async () => {
  let answer = () => {};
  const stage = await start({ settings: { 'upstream.protocol': 'auto' } }, (socket, { body }) => {
    answer = () =>
      answerLikeOdoo(
        socket,
        printResult(
          '{"server_version": "16.0", "server_version_info": [16, 0, 0, "final", 0, ""], "server_serie": "16.0", "protocol_version": 1}',
        ),
      );
    if (!body.includes('"common"')) answer();
  });
  const { id, headers } = await makeKey(stage);
  const waiting = stage.proxy.call(printUnlink(stage.upstream.url), headers);
  await expect.poll(() => stage.sent().length, PATIENT).toBe(1);
  await stage.proxy.app.keys.revoke(id);
  answer();
  expect((await waiting).status).toBe(401);
  expect(stage.sent()).toHaveLength(1);
});

test('a question for the version asks no second page for a key that was revoked meanwhile', async () => {
  let revoke = async () => {};
  const stage = await start({}, async (socket) => {
    await revoke();
    answerLikeOdoo(socket, '', '404 NOT FOUND');
  });
  const { id, headers } = await makeKey(stage);
  revoke = async () => void (await stage.proxy.app.keys.revoke(id));
  const { status } = await send(`${stage.proxy.url}/api/erp/version`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, url: stage.upstream.url }),
  });
  expect(status).toBe(401);
  expect(stage.sent()).toHaveLength(1);
});

/** The key was judged: its call is under way. */
async function isUsed({ proxy }: Stage, id: string): Promise<boolean> {
  await proxy.app.keys.flush();
  return (await proxy.app.store.keys.findById(id))?.lastUsedAt !== null;
}

/** Nothing tells that a call has joined another's: it has where it was judged, and a moment has passed. */
async function isJoined(stage: Stage, id: string): Promise<void> {
  await expect.poll(() => isUsed(stage, id), PATIENT).toBe(true);
  await sleep(100);
}
