/** `prefer: respond-async` on execute and export: the job, its states and its result. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type SandboxStage, startSandboxStage, startTableStage } from '../export/export-stage.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  ROLLED_BACK,
  type Script,
  startUpstream,
} from '../scripted-upstream.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { expectToStay } from '../time.ts';
import {
  QUICK_TIMES,
  RESPOND_ASYNC,
  readJob,
  readResult,
  request,
  startJob,
  waitForEnd,
} from './job-stage.ts';

const READ = { id: 7, action: 'read', model_id: 'res.partner', params: [[1]], keyword: { fields: ['name'] } };

describe('on the sandbox', () => {
  let stage: SandboxStage;
  let proxy: ErpProxy;
  beforeEach(async () => {
    stage = await startSandboxStage({ jobTimes: QUICK_TIMES });
    proxy = stage.proxy;
  });
  const prod = { erp_instance: { name: 'prod' } };

  test('a job that is stored while the store finds none begins at once', async () => {
    const { proxy } = await startSandboxStage({ jobTimes: { ...QUICK_TIMES, lookMs: 3_600_000 } });
    const { jobs } = proxy.app.store;
    const { claim } = jobs;
    const [claimed, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const spy = vi.spyOn(jobs, 'claim').mockImplementation(async (...given) => {
      const row = await claim(...given);
      if (row !== null) return row;
      claimed.resolve();
      await stored.promise;
      return null;
    });
    onTestFinished(() => spy.mockRestore());
    await waitForEnd(proxy, await startJob(proxy, { ...READ, ...prod }));
    await claimed.promise;
    const path = await startJob(proxy, { ...READ, ...prod });
    stored.resolve();
    expect((await waitForEnd(proxy, path)).state).toBe('done');
  });

  test('answers 202 with the place of the job, whose result is the answer of the call', async () => {
    const call = { ...READ, ...prod };
    const waited = await proxy.call(call);
    const answer = await proxy.call(call, RESPOND_ASYNC);
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({
      'preference-applied': 'respond-async',
      location: `/api/erp/jobs/${answer.json.id}`,
      'content-type': 'application/json',
    });
    expect(answer.json).toMatchObject({ state: expect.stringMatching(/queued|running|done/) });
    const path = answer.headers.location!;
    const job = await waitForEnd(proxy, path);
    expect(job).toEqual({
      id: answer.json.id,
      state: 'done',
      created_at: answer.json.created_at,
      ended_at: expect.stringMatching(/^20.*Z$/),
      expires_at: expect.stringMatching(/^20.*Z$/),
      progress: { bytes: waited.body.length },
      result_url: `${path}/result`,
    });
    const result = await readResult(proxy, path);
    expect(result.status).toBe(200);
    expect(result.body).toEqual(waited.body);
    expect(result.headers['content-type']).toBe('application/json');
  });

  test('converts values as the call would', async () => {
    const call = { ...READ, keyword: { fields: ['name', 'parent_id'] }, ...prod };
    const waited = await proxy.call(call, { prefer: 'values=normalized' });
    const path = await startJob(proxy, call, { headers: { prefer: 'respond-async, values=normalized' } });
    expect((await waitForEnd(proxy, path)).state).toBe('done');
    const result = await readResult(proxy, path);
    expect(result.body).toEqual(waited.body);
    expect(result.headers['preference-applied']).toBe('values=normalized');
  });

  test('an export has progress and the same records', async () => {
    const body = { model_id: 'res.partner', fields: ['name'], ...prod };
    const waited = await stage.export({ fields: ['name'] });
    const path = await startJob(proxy, body, { route: 'export' });
    const job = await waitForEnd(proxy, path);
    const records = waited.text.split('\n').length - 1;
    expect(job).toMatchObject({
      state: 'done',
      progress: { records, bytes: Buffer.byteLength(waited.text) },
    });
    const result = await readResult(proxy, path);
    expect(result.body.toString()).toBe(waited.text);
    expect(result.headers['content-type']).toBe('application/x-ndjson');
  });

  test("Odoo's error is the error of a failed job", async () => {
    const path = await startJob(proxy, { ...READ, keyword: { fields: ['nope'] }, ...prod });
    const job = await waitForEnd(proxy, path);
    expect(job).toMatchObject({ state: 'failed', error: { code: 200, data: { type: 'query_invalid' } } });
    expect(job.result_url).toBeUndefined();
    expect((await readResult(proxy, path)).json.error).toEqual(job.error);
  });

  test('what a waiting caller would be refused is refused at once, and makes no job', async () => {
    const { key } = await proxy.app.keys.create({
      name: 'reader',
      policy: { instances: ['prod'], models: { 'res.partner': ['read'] } },
    });
    const reader = { url: proxy.url, key };
    for (const [body, status, type] of [
      [{ ...READ, model_id: 'res.users', ...prod }, 403, 'policy_denied'],
      [{ ...READ, erp_instance: { name: 'nowhere' } }, 403, 'policy_denied'],
      [{ ...READ, ...prod, keywords: {} }, 400, 'invalid_request'],
      ['{', 400, 'parse_error'],
    ] as const) {
      const answer = await request(reader, 'POST', '/api/erp/execute', { headers: RESPOND_ASYNC, body });
      expect([answer.status, answer.json.error.data.type]).toEqual([status, type]);
    }
    const body = { model_id: 'res.partner', fields: ['name'], ...prod };
    const refused = await request(reader, 'POST', '/api/erp/export', { headers: RESPOND_ASYNC, body });
    expect([refused.status, refused.json.error.data.type]).toEqual([403, 'policy_denied']);
    expect(await proxy.app.store.jobs.list({ after: null, limit: 10 })).toEqual([]);
  });

  test('a batch is answered at once', async () => {
    const answer = await proxy.call([{ ...READ, ...prod }], RESPOND_ASYNC);
    expect(answer.status).toBe(200);
    expect(answer.headers['preference-applied']).toBeUndefined();
  });

  test('the calls of a job are recorded as those of its key, with the id of the request that asked for it', async () => {
    const headers = { 'x-request-id': 'asked-here' };
    const path = await startJob(proxy, { ...READ, ...prod }, { headers });
    await waitForEnd(proxy, path);
    const lines = () => proxy.log.filter(({ requestId }) => requestId === 'asked-here');
    await expect.poll(lines).toHaveLength(3);
    const [asked, ran, ended] = lines();
    expect(asked).toMatchObject({
      msg: 'call',
      outcome: 'deferred',
      httpStatus: 202,
      via: null,
      attempts: 0,
    });
    expect(ran).toMatchObject({ msg: 'call', outcome: 'ok', via: 'job', attempts: 1 });
    expect(ended).toMatchObject({ msg: 'job', state: 'done', route: 'execute', model: 'res.partner' });
  });

  test('another client, and a wrong id, find no job', async () => {
    const path = await startJob(proxy, { ...READ, ...prod });
    await waitForEnd(proxy, path);
    const { key } = await proxy.app.keys.create({ name: 'other' });
    const other = { url: proxy.url, key };
    for (const [method, place] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/result`],
    ] as const) {
      const answer = await request(other, method, place);
      expect([answer.status, answer.json.error.data.type]).toEqual([404, 'route_not_found']);
      const wrong = `${place.slice(0, '/api/erp/jobs/'.length)}00000000-0000-4000-8000-000000000000`;
      expect((await request(proxy, method, wrong)).status).toBe(404);
      const refused = await request({ url: proxy.url, key: 'ep_none' }, method, place);
      expect([refused.status, refused.json.error.data.type]).toEqual([401, 'unauthorized']);
    }
    for (const id of ['%2e%2e', 'x', "a'--", '%00'])
      expect((await request(proxy, 'GET', `/api/erp/jobs/${id}`)).status).toBe(404);
    expect((await readJob(proxy, path)).state).toBe('done');
  });

  test('the successor of a rotated key, and the key of a new policy, find the jobs of their client', async () => {
    const made = await proxy.app.keys.create({ name: 'app' });
    const client = { url: proxy.url, key: made.key };
    const path = await startJob(client, { ...READ, ...prod });
    await waitForEnd(client, path);
    const rotated = await proxy.app.keys.rotate(made.record.id, { overlapMs: 0 });
    if (typeof rotated !== 'object' || !('key' in rotated)) throw new Error('not rotated');
    expect((await readJob({ url: proxy.url, key: rotated.key }, path)).state).toBe('done');
  });

  test('a callback, such as an address, is refused and makes no job', async () => {
    for (const callback of ['http://127.0.0.1:1/', 'erp', '"https://10.0.0.1/hook"']) {
      const headers = { prefer: `respond-async; callback=${callback}` };
      const answer = await proxy.call({ ...READ, ...prod }, headers);
      expect([answer.status, answer.json.error.data]).toEqual([
        400,
        { type: 'invalid_request', retryable: false, path: 'prefer' },
      ]);
    }
    expect(await proxy.app.store.jobs.list({ after: null, limit: 10 })).toEqual([]);
  });

  test('the store has neither the body nor the result in clear', async () => {
    const { users, url, db } = stage.sandbox;
    const { userId: user_id, apiKey: api_key } = users.admin;
    const proxyAllowing = closeAfterTest(await startProxy({ allow: [url], jobTimes: { lookMs: 60_000 } }));
    const path = await startJob(proxyAllowing, { ...READ, erp_instance: { url, db, user_id, api_key } });
    await waitForEnd(proxyAllowing, path);
    const [row] = await proxyAllowing.app.store.jobs.list({ after: null, limit: 1 });
    const part = await proxyAllowing.app.store.jobs.readPart(row!.id, row!.attempt!, 0);
    expect(JSON.stringify(row)).not.toContain(api_key);
    expect(Buffer.from(part!).includes('jsonrpc')).toBe(false);
    // The body is removed at the end.
    expect(await proxyAllowing.app.store.jobs.readPart(row!.id, '', 0)).toBeNull();
  });
});

describe('on a scripted upstream', () => {
  async function startStage(script: Script, options: Parameters<typeof startProxy>[0] = {}) {
    const upstream = closeAfterTest(await startUpstream(script));
    const proxy = closeAfterTest(
      await startProxy({ jobTimes: QUICK_TIMES, ...options, allow: [upstream.url] }),
    );
    return { upstream, proxy };
  }
  /** Answers when the test says so. */
  function createGate() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const script: Script = async (socket) => {
      await promise;
      answerLikeOdoo(socket, printResult('true'));
    };
    return { script, open: resolve };
  }
  const write = (url: string, more = {}) =>
    makeCall(url, { action: 'write', params: [[1], { name: 'x' }], ...more });

  test('a job that waits is cancelled and never sent', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script, {
      settings: { 'jobs.concurrency': '1' },
    });
    const first = await startJob(proxy, write(upstream.url));
    await expect.poll(() => upstream.requests.length).toBe(1);
    const second = await startJob(proxy, write(upstream.url));
    expect((await readJob(proxy, second)).state).toBe('queued');
    const { status, json } = await request(proxy, 'DELETE', second);
    expect([status, json.state]).toEqual([200, 'cancelled']);
    expect((await readResult(proxy, second)).status).toBe(404);
    gate.open();
    expect((await waitForEnd(proxy, first)).state).toBe('done');
    expect(upstream.requests).toHaveLength(1);
  });

  test('a read that runs is cancelled, and its connection closed', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script);
    const path = await startJob(proxy, makeCall(upstream.url));
    await expect.poll(() => upstream.sockets.size).toBe(1);
    expect((await readResult(proxy, path)).headers['retry-after']).toBe('2');
    expect((await request(proxy, 'DELETE', path)).status).toBe(200);
    expect((await waitForEnd(proxy, path)).state).toBe('cancelled');
    await expect.poll(() => upstream.sockets.size).toBe(0);
  });

  test('a write that was sent goes on to its end, whatever its caller asks', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script);
    const path = await startJob(proxy, write(upstream.url));
    await expect.poll(() => upstream.requests.length).toBe(1);
    const { json } = await request(proxy, 'DELETE', path);
    expect(json).toMatchObject({ state: 'running', cancel_requested: true });
    gate.open();
    expect((await waitForEnd(proxy, path)).state).toBe('done');
  });

  test('a write whose answer does not come is unknown, and is not sent again', async () => {
    const { upstream, proxy } = await startStage((socket) => void socket.destroy());
    const path = await startJob(proxy, write(upstream.url));
    expect(await waitForEnd(proxy, path)).toMatchObject({
      state: 'unknown',
      error: { data: { type: 'upstream_unreachable', outcome: 'unknown' } },
    });
    await expectToStay(() => upstream.requests.length, 1);
  });

  test('a write whose answer breaks off is unknown', async () => {
    const { upstream, proxy } = await startStage((socket) => {
      socket.write(
        'HTTP/1.0 200 OK\r\nContent-Length: 100000\r\n\r\n{"jsonrpc": "2.0", "id": 1, "result": "',
      );
      socket.end('x'.repeat(50_000));
    });
    const path = await startJob(proxy, write(upstream.url));
    expect(await waitForEnd(proxy, path)).toMatchObject({ state: 'unknown' });
    const read = await startJob(proxy, makeCall(upstream.url));
    expect(await waitForEnd(proxy, read)).toMatchObject({
      state: 'failed',
      error: { data: { type: 'upstream_unreachable' } },
    });
  });

  test('a call that could not begin waits and runs later', async () => {
    const { upstream, proxy } = await startStage((socket, _request, index) => {
      if (index === 0) answerLikeOdoo(socket, 'busy', '503 Busy');
      else answerLikeOdoo(socket, printResult('true'));
    });
    const path = await startJob(proxy, makeCall(upstream.url), { headers: {} });
    expect((await waitForEnd(proxy, path)).state).toBe('done');
    expect(upstream.requests.length).toBeGreaterThan(1);
  });

  test('a write that Odoo rolled back may be sent again', async () => {
    const { upstream, proxy } = await startStage((socket, _request, index) => {
      answerLikeOdoo(socket, index === 0 ? ROLLED_BACK : printResult('true'));
    });
    const path = await startJob(proxy, write(upstream.url));
    expect((await waitForEnd(proxy, path)).state).toBe('done');
  });

  test('a request that is sent again with its idempotency key gets its job, other bytes are refused', async () => {
    const { upstream, proxy } = await startStage((socket) => answerLikeOdoo(socket, printResult('true')));
    const headers = { 'idempotency-key': 'k', ...RESPOND_ASYNC };
    const paths = await Promise.all([1, 2, 3].map(() => startJob(proxy, write(upstream.url), { headers })));
    expect(new Set(paths).size).toBe(1);
    await waitForEnd(proxy, paths[0]!);
    expect(await startJob(proxy, write(upstream.url), { headers })).toBe(paths[0]);
    // A caller that waits gets the answer of the job.
    const { status, headers: replayed } = await proxy.call(write(upstream.url), { 'idempotency-key': 'k' });
    expect([status, replayed['idempotency-replayed']]).toEqual([200, 'true']);
    const other = await proxy.call(write(upstream.url, { params: [[2], {}] }), headers);
    expect([other.status, other.json.error.data.type]).toEqual([409, 'idempotency_conflict']);
    expect(upstream.requests).toHaveLength(1);
  });

  test('a key that was revoked before its job runs is refused, and nothing is sent', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script, { settings: { 'jobs.concurrency': '1' } });
    const blocker = await startJob(proxy, write(upstream.url));
    await expect.poll(() => upstream.requests.length).toBe(1);
    const { key, record } = await proxy.app.keys.create({ name: 'app' });
    const path = await startJob({ url: proxy.url, key }, write(upstream.url));
    await proxy.app.keys.revoke(record.id);
    gate.open();
    await waitForEnd(proxy, blocker);
    const id = path.split('/').at(-1)!;
    await expect.poll(async () => (await proxy.app.store.jobs.find(id))?.state).toBe('failed');
    expect(upstream.requests).toHaveLength(1);
  });

  test('a policy that changes before a job runs holds for it', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script, { settings: { 'jobs.concurrency': '1' } });
    await startJob(proxy, write(upstream.url));
    await expect.poll(() => upstream.requests.length).toBe(1);
    const { key, record } = await proxy.app.keys.create({
      name: 'app',
      policy: { origins: [upstream.url], models: { 'res.partner': ['write'] } },
    });
    const client = { url: proxy.url, key };
    const path = await startJob(client, write(upstream.url));
    const policy = { origins: [upstream.url], models: { 'res.partner': ['read'] } };
    await proxy.app.keys.update(record.id, 1, { policy });
    gate.open();
    expect(await waitForEnd(client, path)).toMatchObject({
      state: 'failed',
      error: { data: { type: 'policy_denied' } },
    });
    expect(upstream.requests).toHaveLength(1);
  });

  test.each([
    [{ 'res.partner': ['write', 'read'] }, 200],
    [{ 'res.partner': ['read'] }, 403],
    [{ 'sale.order': ['write'] }, 403],
  ])('the result of a job is given only if the policy still allows its call: %j', async (models, status) => {
    const { upstream, proxy } = await startStage((socket) => answerLikeOdoo(socket, printResult('true')));
    const policy = { origins: [upstream.url], models: { 'res.partner': ['write'] } };
    const { key, record } = await proxy.app.keys.create({ name: 'app', policy });
    const client = { url: proxy.url, key };
    const path = await startJob(client, write(upstream.url));
    await waitForEnd(client, path);
    await proxy.app.keys.update(record.id, 1, { policy: { ...policy, models } });
    const answer = await request(client, 'GET', `${path}/result`);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.json.error.data.type).toBe('policy_denied');
    await proxy.app.keys.update(record.id, 2, {
      policy: { ...policy, origins: ['https://erp.example.com'] },
    });
    expect((await request(client, 'GET', `${path}/result`)).json.error.data.rule).toBe('origins');
  });

  test('one client cannot keep the jobs of another one waiting', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script, {
      settings: { 'jobs.concurrency': '3', 'jobs.clientConcurrency': '2' },
    });
    for (const _ of [1, 2, 3, 4]) await startJob(proxy, write(upstream.url));
    const { key } = await proxy.app.keys.create({ name: 'other' });
    const { erp_instance, ...call } = write(upstream.url);
    const onOtherDatabase = { ...call, erp_instance: { ...(erp_instance as object), db: 'other' } };
    await startJob({ url: proxy.url, key }, onOtherDatabase);
    // Jobs of one database wait for each other.
    await expect.poll(() => upstream.requests.map(({ body }) => body.includes('other'))).toContain(true);
    expect(upstream.requests).toHaveLength(2);
    gate.open();
  });

  test('the number of jobs of a client is bounded, and the bytes of all', async () => {
    const { upstream, proxy } = await startStage((socket) => answerLikeOdoo(socket, printResult('true')), {
      settings: { 'jobs.clientMax': '1', 'jobs.totalBytesMax': '1000' },
    });
    const path = await startJob(proxy, write(upstream.url));
    await waitForEnd(proxy, path);
    const refused = await proxy.call(write(upstream.url), RESPOND_ASYNC);
    expect([refused.status, refused.json.error.data.type]).toEqual([429, 'rate_limited']);
    expect(refused.json.error.message).toContain('jobs.clientMax');
    for (const name of ['two', 'three', 'four', 'five']) {
      const { key } = await proxy.app.keys.create({ name });
      const headers = { ...RESPOND_ASYNC, 'x-proxy-api': key };
      const answer = await proxy.call(write(upstream.url), headers);
      if (answer.status === 202) continue;
      expect([answer.status, answer.json.error.data.type]).toEqual([503, 'overloaded']);
      expect(answer.json.error.message).toContain('jobs.totalBytesMax');
      return;
    }
    throw new Error('no bound');
  });

  test('a result that is too large fails, and its parts are removed', async () => {
    const { upstream, proxy } = await startStage(
      (socket) => answerLikeOdoo(socket, printResult(`"${'x'.repeat(900_000)}"`)),
      { settings: { 'jobs.bytesMax': '600000' } },
    );
    const path = await startJob(proxy, makeCall(upstream.url));
    expect(await waitForEnd(proxy, path)).toMatchObject({
      state: 'failed',
      error: { data: { type: 'payload_too_large' } },
    });
  });

  test('a job that takes longer than its time fails', async () => {
    const { upstream, proxy } = await startStage(() => {}, { settings: { 'jobs.secondsMax': '1' } });
    const path = await startJob(proxy, makeCall(upstream.url));
    expect(await waitForEnd(proxy, path)).toMatchObject({
      state: 'failed',
      error: { data: { type: 'upstream_timeout' } },
    });
  });

  test('a job is one call of the key, and does not keep its client from asking for it', async () => {
    const gate = createGate();
    const { upstream, proxy } = await startStage(gate.script);
    const { key } = await proxy.app.keys.create({
      name: 'app',
      policy: { origins: [upstream.url], models: { '*': ['*'] }, per_day: 2, concurrency: 1 },
    });
    const client = { url: proxy.url, key };
    const path = await startJob(client, makeCall(upstream.url));
    await expect.poll(() => upstream.requests.length).toBe(1);
    expect((await readJob(client, path)).state).toBe('running');
    // The concurrency is used up by the job.
    const busy = await request(client, 'POST', '/api/erp/execute', { body: makeCall(upstream.url) });
    expect(busy.status).toBe(429);
    gate.open();
    expect((await waitForEnd(client, path)).state).toBe('done');
    const second = await request(client, 'POST', '/api/erp/execute', { body: makeCall(upstream.url) });
    expect(second.status).toBe(200);
    const third = await request(client, 'POST', '/api/erp/execute', { body: makeCall(upstream.url) });
    expect([third.status, third.json.error.data.rule]).toEqual([429, 'per_day']);
  });

  test('a process that stops leaves a job that reads to the next one, and ends one that has written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    const settings = { 'store.url': `sqlite:${folder}/store.db`, 'http.shutdownGraceMs': '300000' };
    const letGo: (() => void)[] = [];
    const upstream = closeAfterTest(
      await startUpstream((socket) => {
        letGo.push(() => answerLikeOdoo(socket, printResult('true')));
      }),
    );
    const options = { allow: [upstream.url], settings, jobTimes: QUICK_TIMES };
    const first = await startProxy(options);
    const { key } = first;
    const written = await startJob(first, write(upstream.url));
    await expect.poll(() => letGo.length).toBe(1);
    const onOther = makeCall(upstream.url);
    const read = await startJob(first, {
      ...onOther,
      erp_instance: { ...(onOther['erp_instance'] as object), db: 'other' },
    });
    await expect.poll(() => letGo.length).toBe(2);
    const stopped = first.close();
    await expect.poll(() => upstream.sockets.size).toBe(1);
    letGo[0]!();
    await stopped;
    const second = closeAfterTest(await startProxy(options));
    const client = { url: second.url, key };
    expect((await readJob(client, written)).state).toBe('done');
    await expect.poll(() => letGo.length).toBe(3);
    letGo[2]!();
    expect((await waitForEnd(client, read)).state).toBe('done');
    expect(upstream.requests).toHaveLength(3);
  });

  test('a call that needs an approval is asked for at once, and runs as a job once it is approved', async () => {
    const { upstream, proxy } = await startStage((socket) => answerLikeOdoo(socket, printResult('true')));
    const policy = {
      origins: [upstream.url],
      models: { 'res.partner': ['write'] },
      approve: { 'res.partner': ['write'] },
    };
    const { key } = await proxy.app.keys.create({ name: 'app', policy });
    const client = { url: proxy.url, key };
    const body = write(upstream.url);
    const asked = await request(client, 'POST', '/api/erp/execute', { headers: RESPOND_ASYNC, body });
    expect([asked.status, asked.json.error.data.type]).toEqual([403, 'approval_required']);
    const { approval } = asked.json.error.data;
    await proxy.app.adminFor(TEST_ACTOR).approveCall(approval);
    const path = await startJob(client, body, { headers: { 'x-approval': approval } });
    expect((await waitForEnd(client, path)).state).toBe('done');
    const again = await startJob(client, body, { headers: { 'x-approval': approval } }).catch(() => null);
    expect(again).toBeNull();
    expect(upstream.requests.filter(({ body: sent }) => sent.includes('"write"'))).toHaveLength(1);
  });

  test('an ended job is removed after its time, with its result', async () => {
    const { upstream, proxy } = await startStage((socket) => answerLikeOdoo(socket, printResult('true')));
    const path = await startJob(proxy, makeCall(upstream.url));
    await waitForEnd(proxy, path);
    const id = path.split('/').at(-1)!;
    const { jobs } = proxy.app.store;
    const kept = await jobs.find(id);
    await jobs.add(
      { ...kept!, id: 'old', name: null, callback: null, body: [] },
      { clientMax: 9, waitingMax: 9, bytesMax: 1e9 },
    );
    await jobs.cancel('old', null, { now: 0, keepMs: -1 });
    await expect.poll(() => jobs.find('old')).toBeNull();
    expect((await readJob(proxy, path)).state).toBe('done');
  });
});

test('an export of many pages is streamed to the store and back', async () => {
  const stage = await startTableStage({ count: 40_000, jobTimes: QUICK_TIMES });
  const path = await startJob(stage.proxy, stage.body, { route: 'export' });
  const job = await waitForEnd(stage.proxy, path);
  expect(job).toMatchObject({ state: 'done', progress: { records: 40_000 } });
  const result = await readResult(stage.proxy, path);
  const waited = await stage.export();
  expect(result.body.toString()).toBe(waited.text);
  expect(Number(result.headers['content-length'])).toBe(result.body.length);
});
