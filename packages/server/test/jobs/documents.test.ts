/** `prefer: respond-async` on `POST /api/erp/document`: the document is the result of the job. */
import type { Policy } from '@erp-proxy/contract';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { startSandboxStage } from '../export/export-stage.ts';
import { QUICK_TIMES, RESPOND_ASYNC, readResult, request, startJob, waitForEnd } from './job-stage.ts';

const ORDER = { model_id: 'sale.order', erp_instance: { name: 'prod' } };
const DOCUMENT = { route: 'document' };

test('one PDF and an archive are the same as for a caller that waits', async () => {
  const { proxy } = await startSandboxStage({ jobTimes: QUICK_TIMES });
  const waited = await request(proxy, 'POST', '/api/erp/document', { body: { ...ORDER, record: 1 } });
  const path = await startJob(proxy, { ...ORDER, record: 1 }, DOCUMENT);
  expect(await waitForEnd(proxy, path)).toMatchObject({
    state: 'done',
    progress: { bytes: waited.body.length },
  });
  const result = await readResult(proxy, path);
  expect([result.status, result.body]).toEqual([200, waited.body]);
  for (const name of ['content-type', 'content-disposition', 'content-security-policy'] as const)
    expect(result.headers[name]).toBe(waited.headers[name]);

  const archive = await startJob(proxy, { ...ORDER, records: [1, 2] }, DOCUMENT);
  await waitForEnd(proxy, archive);
  const files = unzipSync((await readResult(proxy, archive)).body);
  expect(Object.values(files).map((file) => Buffer.from(file).toString('latin1', 0, 5))).toEqual([
    '%PDF-',
    '%PDF-',
  ]);
});

test.each([
  ['another shape', { record: 'x' }],
  ['no record', {}],
])('a request of %s is refused at once, and no job is stored', async (_, members) => {
  const { proxy } = await startSandboxStage({ jobTimes: QUICK_TIMES });
  const body = { ...ORDER, ...members };
  const answer = await request(proxy, 'POST', '/api/erp/document', { headers: RESPOND_ASYNC, body });
  expect([answer.status, answer.json.error.data.type]).toEqual([400, 'invalid_request']);
  expect(await proxy.app.store.jobs.list({ after: null, limit: 1 })).toEqual([]);
});

test('a key whose policy does not allow documents gets no job', async () => {
  const { proxy } = await startSandboxStage({ jobTimes: QUICK_TIMES });
  const policy = { instances: ['prod'], models: { 'sale.order': ['read'] } };
  const { key } = await proxy.app.keys.create({ name: 'reader', policy });
  const answer = await request({ url: proxy.url, key }, 'POST', '/api/erp/document', {
    headers: RESPOND_ASYNC,
    body: { ...ORDER, record: 1 },
  });
  expect([answer.status, answer.json.error.data.type]).toEqual([403, 'policy_denied']);
  expect(await proxy.app.store.jobs.list({ after: null, limit: 1 })).toEqual([]);
});

test.each([
  ['has no documents any more', {}],
  ['has rules for fields', { data: ['documents'], fields: { 'res.partner': { deny: ['vat'] } } }],
])('the document of a key whose policy %s meanwhile is not given', async (_, change) => {
  const { proxy } = await startSandboxStage({ jobTimes: QUICK_TIMES });
  const policy: Policy = { instances: ['prod'], models: { 'sale.order': ['read'] } };
  const { keys } = proxy.app;
  const made = await keys.create({ name: 'reader', policy: { ...policy, data: ['documents'] } });
  const client = { url: proxy.url, key: made.key };
  const path = await startJob(client, { ...ORDER, record: 1 }, DOCUMENT);
  expect((await waitForEnd(client, path)).state).toBe('done');
  expect((await readResult(client, path)).status).toBe(200);
  await keys.update(made.record.id, 1, { policy: { ...policy, ...(change as Policy) } });
  const refused = await readResult(client, path);
  expect([refused.status, refused.json.error.data.type]).toEqual([403, 'policy_denied']);
});

test('a record that does not exist is the error of its job', async () => {
  const { proxy } = await startSandboxStage({ jobTimes: QUICK_TIMES });
  for (const members of [{ record: 99_999 }, { records: [1, 99_999] }]) {
    const path = await startJob(proxy, { ...ORDER, ...members }, DOCUMENT);
    expect(await waitForEnd(proxy, path)).toMatchObject({
      state: 'failed',
      error: { data: { type: 'record_missing' } },
    });
  }
});
