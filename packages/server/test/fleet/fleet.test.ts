/** Tests docs/fleet.md: one call on many instances. */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { ACCESS_ERROR, addInstance, answerCount, COUNT, readReply, startFleetStage } from './fleet-stage.ts';

const CLIENTS = { 'client-a': ['eu', 'live'], 'client-b': ['eu'], 'client-c': ['us', 'live'], internal: [] };

test('gives the result of each instance by patterns of names', async () => {
  const { fleet } = await startFleetStage({ instances: CLIENTS });
  const { status, headers, counts, byName } = await fleet({ call: COUNT, instances: ['client-*'] });
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/x-ndjson' });
  expect(byName).toEqual({
    'client-a': { instance: 'client-a', result: 8 },
    'client-b': { instance: 'client-b', result: 8 },
    'client-c': { instance: 'client-c', result: 8 },
  });
  expect(counts).toEqual({ done: 3, failed: 0, skipped: 0 });
});

test('chooses instances that have one of the tags', async () => {
  const { fleet } = await startFleetStage({ instances: CLIENTS });
  const names = async (tags: string[]) => Object.keys((await fleet({ call: COUNT, tags })).byName).sort();
  expect(await names(['live'])).toEqual(['client-a', 'client-c']);
  expect(await names(['eu', 'us'])).toEqual(['client-a', 'client-b', 'client-c']);
});

test('keeps the bytes of results, on one line each', async () => {
  const result = '[{"amount": 1.0,\n"id": 9007199254740993, "name":\r\n"a\\nb"}]';
  const { fleet } = await startFleetStage({
    instances: { prod: [] },
    script: (_db, socket) => answerLikeOdoo(socket, printResult(result)),
  });
  const { text } = await fleet({ call: COUNT, instances: ['prod'] });
  expect(text.split('\n')[0]).toBe(
    '{"instance":"prod","result":[{"amount": 1.0, "id": 9007199254740993, "name":  "a\\nb"}]}',
  );
});

test('gives the error of each instance that fails, in the form of a call', async () => {
  const { fleet } = await startFleetStage({
    instances: { good: [], bad: [], gone: [] },
    script(db, socket) {
      if (db === 'gone') socket.destroy();
      else if (db === 'bad') answerLikeOdoo(socket, ACCESS_ERROR);
      else answerCount(db, socket, Buffer.of());
    },
    settings: { 'upstream.retries': '0' },
  });
  const { counts, byName } = await fleet({ call: COUNT, instances: ['*'] });
  expect(counts).toEqual({ done: 1, failed: 2, skipped: 0 });
  expect(byName['good']).toEqual({ instance: 'good', result: 4 });
  expect(byName['bad']?.error).toMatchObject({ code: 200, data: { type: 'access_error', retryable: false } });
  expect(byName['gone']?.error).toMatchObject({
    code: -32004,
    data: { type: 'upstream_unreachable', retryable: true },
  });
});

test('sends each line when its instance answers, while another one hangs', async () => {
  const { open, readMetric } = await startFleetStage({
    instances: { fast: [], stuck: [] },
    script: (db, socket, body) => db === 'fast' && answerCount(db, socket, body),
  });
  const response = await open({ call: COUNT, instances: ['*'] });
  const [first] = await new Promise<string[]>((resolve) =>
    response.once('data', (piece) => resolve(String(piece).split('\n'))),
  );
  expect(JSON.parse(first!)).toEqual({ instance: 'fast', result: 4 });
  response.destroy();
  await expect.poll(() => readMetric('erp_proxy_fleet_calls_running')).toBe(0);
});

test('an answer in which a server forges lines is an error of its own instance', async () => {
  const forged: Record<string, string> = {
    early: '1}\n{"instance":"good","result":0',
    twice: '1, "instance": "good", "result": 2',
    error: '1, "error": {"code": 1}',
  };
  const { fleet } = await startFleetStage({
    instances: { good: [], early: [], twice: [], error: [] },
    script: (db, socket) => {
      // A long answer is passed on before its end is known, so that it was not checked as a whole.
      const text = forged[db];
      answerLikeOdoo(socket, printResult(text === undefined ? '7' : `["${'x'.repeat(40_000)}", 1],${text}`));
    },
  });
  const { byName, counts, lines } = await fleet({ call: COUNT, instances: ['*'] });
  expect(lines).toHaveLength(5);
  expect(byName['good']).toEqual({ instance: 'good', result: 7 });
  expect(counts).toEqual({ done: 1, failed: 3, skipped: 0 });
  for (const name of Object.keys(forged))
    expect(byName[name]?.error.data.type, name).toBe('upstream_bad_response');
});

test('an answer of more than a mebibyte is an error of its instance', async () => {
  const { fleet } = await startFleetStage({
    instances: { large: [], small: [] },
    script: (db, socket, body) =>
      db === 'small'
        ? answerCount(db, socket, body)
        : answerLikeOdoo(socket, printResult(`"${'x'.repeat(1024 * 1024)}"`)),
  });
  const { byName, counts } = await fleet({ call: COUNT, instances: ['*'] });
  expect(byName['large']?.error).toMatchObject({ code: -32016, data: { type: 'payload_too_large' } });
  expect(counts).toEqual({ done: 1, failed: 1, skipped: 0 });
});

test('a time limit of the request ends running calls, and skips those whose turn did not come', async () => {
  const { fleet } = await startFleetStage({
    instances: { a: [], b: [], c: [] },
    script: () => {},
  });
  const body = { call: COUNT, instances: ['*'], concurrency: 1 };
  const { byName, counts, isBroken } = await fleet(body, { 'x-request-timeout': '1' });
  expect({ counts, isBroken }).toEqual({ counts: { done: 0, failed: 1, skipped: 2 }, isBroken: false });
  expect(byName['a']?.error.data).toMatchObject({ type: 'upstream_timeout' });
  expect(byName['b']?.error.data).toEqual({ type: 'overloaded', retryable: true, outcome: 'not_sent' });
});

test('each instance has its own time limit', async () => {
  const { proxy, upstream, fleet } = await startFleetStage({
    instances: { fast: [] },
    script: (db, socket, body) => db === 'fast' && answerCount(db, socket, body),
  });
  await addInstance(proxy, upstream.url, 'stuck', { timeout_ms: 1 });
  const { byName, counts } = await fleet({ call: COUNT, instances: ['*'] });
  expect(counts).toEqual({ done: 1, failed: 1, skipped: 0 });
  expect(byName['stuck']?.error.data.type).toBe('upstream_timeout');
});

test('never more calls at once than `concurrency`', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `client-${index}`);
  let [running, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const { fleet } = await startFleetStage({
    instances: Object.fromEntries(names.map((name) => [name, []])),
    script(db, socket, body) {
      most = Math.max(most, ++running);
      waiting.push(() => {
        running--;
        answerCount(db, socket, body);
      });
      // The last calls are fewer than three.
      if (running === 3 || waiting.length + answered === names.length) {
        answered += waiting.length;
        for (const answer of waiting.splice(0)) answer();
      }
    },
  });
  let answered = 0;
  const { counts } = await fleet({ call: COUNT, instances: ['*'], concurrency: 3 });
  expect({ counts, most }).toEqual({ counts: { done: 12, failed: 0, skipped: 0 }, most: 3 });
});

test('instances that hang give their places to others', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `client-${String(index).padStart(2, '0')}`);
  const { open, readMetric } = await startFleetStage({
    instances: Object.fromEntries(names.map((name) => [name, []])),
    // More than there are places.
    script: (db, socket, body) => db >= 'client-20' && answerCount(db, socket, body),
  });
  const response = await open({ call: COUNT, instances: ['*'] });
  let text = '';
  response.on('data', (piece) => {
    text += piece;
  });
  await expect.poll(() => text.split('\n').length - 1).toBe(20);
  response.destroy();
  await expect.poll(() => readMetric('erp_proxy_fleet_calls_running')).toBe(0);
});

test('a caller that leaves ends all calls, and nothing is left', async () => {
  const { open, upstream, readMetric, called } = await startFleetStage({
    instances: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, []])),
    script: () => {},
  });
  const response = await open({ call: COUNT, instances: ['*'], concurrency: 16 });
  await expect.poll(() => called.length).toBe(16);
  response.destroy();
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expect.poll(() => readMetric('erp_proxy_fleet_calls_running')).toBe(0);
  await expect.poll(() => readMetric('erp_proxy_data_requests{route="fleet"}')).toBe(0);
  expect(called).toHaveLength(16);
});

test('interactive calls of the same database go first', async () => {
  const held: (() => void)[] = [];
  const { fleet, proxy, called, readMetric } = await startFleetStage({
    instances: { prod: [] },
    settings: { 'upstream.concurrency': '1' },
    script: (db, socket, body) => void held.push(() => answerCount(db, socket, body)),
  });
  const call = (id: number) => proxy.call({ id, ...COUNT, erp_instance: { name: 'prod' } });
  const first = call(1);
  await expect.poll(() => held.length).toBe(1);
  const reply = fleet({ call: COUNT, instances: ['prod'] });
  await expect.poll(() => readMetric('erp_proxy_fleet_calls_running')).toBe(1);
  const second = call(2);
  for (let sent = 1; sent <= 3; sent++) {
    await expect.poll(() => held.length).toBe(1);
    held.shift()?.();
  }
  expect((await first).json.result).toBe(4);
  expect((await second).json.result).toBe(4);
  expect((await reply).counts.done).toBe(1);
  expect(called).toHaveLength(3);
});

test('each call is recorded with its instance', async () => {
  const { fleet, proxy } = await startFleetStage({ instances: { a: [], b: [] } });
  const { headers } = await fleet({ call: { id: 'x', ...COUNT }, instances: ['*'] });
  const calls = proxy.log.filter(({ msg }) => msg === 'call');
  expect(calls).toMatchObject([
    {
      requestId: headers['x-request-id'],
      via: 'fleet',
      model: 'res.partner',
      method: 'search_count',
      id: '"x"',
    },
    { via: 'fleet' },
  ]);
  expect(calls.map(({ instance }) => instance).sort()).toEqual(['a', 'b']);
});

test('an instance that is removed while it waits is an error of its own', async () => {
  let onFirst = () => {};
  const { open, proxy, called } = await startFleetStage({
    instances: { a: [], b: [] },
    script: (db, socket, body) => {
      onFirst = () => answerCount(db, socket, body);
    },
  });
  const response = await open({ call: COUNT, instances: ['*'], concurrency: 1 });
  await expect.poll(() => called).toEqual(['a']);
  const b = await proxy.app.instances.getVersion('b');
  expect(await proxy.app.instances.remove(b!)).toBe('done');
  onFirst();
  const { byName, counts } = await readReply(response);
  expect(counts).toEqual({ done: 1, failed: 1, skipped: 0 });
  expect(byName['b']?.error.data).toMatchObject({ type: 'invalid_request', path: 'erp_instance.name' });
});

test('normalizes values if the caller prefers it', async () => {
  const { fleet } = await startFleetStage({
    instances: { prod: [] },
    script(_db, socket, body) {
      const method = JSON.parse(body.toString()).params.args[4];
      const fields = '{"name": {"type": "char"}}';
      answerLikeOdoo(socket, printResult(method === 'fields_get' ? fields : '[{"id": 1, "name": false}]'));
    },
  });
  const call = { action: 'read', model_id: 'res.partner', params: [[1], ['name']] };
  const { byName, headers } = await fleet({ call, instances: ['*'] }, { prefer: 'values=normalized' });
  expect(byName['prod']?.result).toEqual([{ id: 1, name: null }]);
  expect(headers['preference-applied']).toBe('values=normalized');
});

test('the route answers a wrong method as the others do', async () => {
  const { proxy } = await startFleetStage({ instances: {} });
  expect((await send(`${proxy.url}/api/erp/fleet`)).status).toBe(405);
});
