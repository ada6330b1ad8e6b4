/** Tests `startJob`, `startExport` and `job` against the real proxy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';

let gateway: Gateway;
let client: Client;
beforeAll(async () => {
  gateway = await startGateway(18);
  client = gateway.connect();
});
afterAll(() => gateway.close());

const READ = { action: 'read', model_id: 'res.partner', params: [[1]], keyword: { fields: ['name'] } };

test('a job gives the result of its call, and is found again by its id', async () => {
  const waited = await client.execute(READ);
  const job = await client.startJob(READ);
  expect(await job.done()).toEqual(waited);
  expect(await job.status()).toMatchObject({ id: job.id, state: 'done' });
  expect(await client.job(job.id).done()).toEqual(waited);
});

test('the values of a job are normalized as those of a call', async () => {
  const normalized = gateway.connectNormalized();
  const read = { ...READ, keyword: { fields: ['parent_id'] } };
  const job = await normalized.startJob(read);
  expect(await job.done()).toEqual(await normalized.execute(read));
});

test('an export gives its answer as a stream', async () => {
  const job = await client.startExport({ model_id: 'res.partner', fields: ['name'], limit: 3 });
  const lines = (await (await job.done()).text()).split('\n').slice(0, -1);
  expect(lines).toHaveLength(3);
  expect((await job.status()).progress).toMatchObject({ records: 3 });
  const again = await client.job(job.id, 'response').done();
  expect((await again.text()).split('\n')).toHaveLength(4);
});

test('a document gives its PDF', async () => {
  const job = await client.startDocument({ model_id: 'sale.order', record: 1 });
  expect(await (await job.done()).text()).toMatch(/^%PDF-/);
});

test('a job that fails, one that is refused and one that does not exist throw their errors', async () => {
  const job = await client.startJob({ ...READ, keyword: { fields: ['nope'] } });
  await expect(job.done()).rejects.toMatchObject({ type: 'query_invalid', code: 200 });
  expect(await job.status()).toMatchObject({ state: 'failed', error: { code: 200 } });
  await expect(client.startJob({ ...READ, action: '_private' })).rejects.toMatchObject({
    type: 'action_invalid',
  });
  await expect(client.job('../execute').status()).rejects.toMatchObject({ type: 'route_not_found' });
});

test('a lost answer is asked for again, and gives the same job', async () => {
  let requests = 0;
  const flaky = gateway.connect({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (++requests > 1) return response;
      throw new TypeError('lost');
    },
  });
  const values = { action: 'create', model_id: 'res.partner', params: [{ name: 'once' }] };
  const id = await (await flaky.startJob<number>(values)).done();
  expect(
    await client.execute({ action: 'search', model_id: 'res.partner', params: [[['name', '=', 'once']]] }),
  ).toEqual([id]);
});

test('a job is cancelled, and its wait ends with its time or its signal', async () => {
  const job = await client.startJob(READ);
  await job.done();
  expect((await job.cancel()).state).toBe('done');
  const key = { url: gateway.proxy.url, key: gateway.proxy.key, instance: 'none' };
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(createClient(key).job(job.id).done({ signal })).rejects.toThrow('enough');
});
