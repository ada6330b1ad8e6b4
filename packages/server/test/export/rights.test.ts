/** Tests policies and limits of the key that exports. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { measureMs } from '../time.ts';
import { readIds, readRecords, runExport, startSandboxStage, startTableStage } from './export-stage.ts';

const READER = {
  instances: ['prod'],
  origins: ['*'],
  models: { '*': ['*'] },
  data: ['export'],
} satisfies Policy;

type ErpProxy = Awaited<ReturnType<typeof startTableStage>>['proxy'];

async function makeKey(proxy: ErpProxy, changes: Partial<Policy>) {
  const created = await proxy.app.keys.create({ name: 'limited', policy: { ...READER, ...changes } });
  return { url: proxy.url, key: created.key, id: created.record.id, version: created.record.version };
}

test('a key with a policy may export only if `data` names it', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 3 });
  for (const data of [undefined, ['changes', 'files']] as const) {
    const { data: _, ...policy } = READER;
    const { key } = await proxy.app.keys.create({
      name: 'k',
      policy: { ...policy, ...(data && { data: [...data] }) },
    });
    const answer = await runExport({ url: proxy.url, key }, { id: 5, ...body });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toMatchObject({
      // The right is checked before the body is read, so the id is not known.
      id: null,
      error: { data: { type: 'policy_denied', rule: 'data' } },
    });
  }
  expect(calls).toEqual([]);
  expect(readIds(await runExport(await makeKey(proxy, {}), body))).toEqual([1, 2, 3]);
});

test('models and fields of the policy hold in fields, domain and order', async () => {
  const { proxy } = await startSandboxStage();
  const own = { erp_instance: { name: 'prod' }, model_id: 'res.partner', fields: ['name'] };
  const key = await makeKey(proxy, {
    models: { 'res.partner': ['search_read'] },
    fields: { 'res.partner': { deny: ['email'] } },
  });
  expect(readRecords(await runExport(key, own)).length).toBeGreaterThan(20);
  const denied = [
    { ...own, model_id: 'sale.order' },
    { ...own, fields: ['name', 'email'] },
    { ...own, domain: [['email', '=', 'x']] },
  ];
  for (const body of denied) {
    const answer = JSON.parse((await runExport(key, body)).text);
    expect(answer.error.data.type).toBe('policy_denied');
  }
});

test('the companies of the policy are the context of each page', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 300 });
  const key = await makeKey(proxy, { companies: [2] });
  expect(readIds(await runExport(key, body))).toHaveLength(300);
  for (const { context } of calls) expect(context).toEqual({ allowed_company_ids: [2] });
  const denied = await runExport(key, { ...body, context: { allowed_company_ids: [1] } });
  expect(JSON.parse(denied.text).error.data).toMatchObject({ type: 'policy_denied', rule: 'companies' });
});

test('`limit_max` is the size of a page, and not the end of the export', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 95 });
  const answer = await runExport(await makeKey(proxy, { limit_max: 10 }), body);
  expect(readIds(answer)).toHaveLength(95);
  expect(calls.map(({ limit }) => limit)).toEqual(Array.from({ length: 11 }, () => 10));
});

test('each page counts as a call of the key; over the rate, an export waits', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 50 });
  const [requests, burst] = [10, 2];
  const key = await makeKey(proxy, { limit_max: 10, rate: { requests, seconds: 1, burst } });
  const tookMs = await measureMs(async () => {
    const answer = await runExport(key, body);
    expect(answer.isBroken).toBe(false);
    expect(readIds(answer)).toHaveLength(50);
  });
  expect(calls).toHaveLength(6);
  expect(tookMs).toBeGreaterThanOrEqual(((calls.length - burst) * 1000) / requests - 1);
});

test('a rate without a burst is enough for an export', async () => {
  const { proxy, body } = await startTableStage({ count: 20 });
  const key = await makeKey(proxy, { limit_max: 10, rate: { requests: 1, seconds: 1, burst: 1 } });
  expect(readIds(await runExport(key, body))).toHaveLength(20);
});

test('an export that has used up the calls of the day is broken off at once', async () => {
  const { proxy, body } = await startTableStage({ count: 50 });
  const key = await makeKey(proxy, { limit_max: 10, per_day: 3 });
  const answer = await runExport(key, body);
  expect(answer).toMatchObject({ status: 200, isBroken: true });
  expect(readIds(answer)).toHaveLength(30);
  const again = await runExport(key, { ...body, after: 30 });
  expect(JSON.parse(again.text).error.data.type).toBe('rate_limited');
});

test('a key that is revoked or changed while it exports gets no further page', async () => {
  for (const change of ['revoke', 'data'] as const) {
    const { proxy, body } = await startTableStage({
      count: 1000,
      async script(_socket, { after }) {
        if (after === 0) return false;
        if (change === 'revoke') await proxy.app.keys.revoke(key.id);
        else await proxy.app.keys.update(key.id, key.version, { policy: { ...READER, data: ['files'] } });
        return false;
      },
    });
    const key = await makeKey(proxy, { limit_max: 100 });
    const answer = await runExport(key, body);
    expect([change, answer.isBroken]).toEqual([change, true]);
    expect(readIds(answer).length).toBeLessThan(400);
  }
});

test('pages are recorded in the audit as calls of the export', async () => {
  const { proxy, body } = await startTableStage({ count: 150 });
  const key = await makeKey(proxy, {});
  await runExport(key, { id: 'nightly', ...body });
  const lines = proxy.log.filter(({ msg }) => msg === 'call');
  expect(lines.length).toBeGreaterThan(1);
  for (const [index, line] of lines.entries())
    expect(line).toMatchObject({
      via: 'export',
      method: 'search_read',
      id: '"nightly"',
      batchIndex: index,
      outcome: 'ok',
    });
  expect(proxy.log.filter(({ msg }) => msg === 'export')).toMatchObject([
    { model: 'res.partner', format: 'ndjson', records: 150, problem: null },
  ]);
  const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
  expect(metrics).toMatch(/^erp_proxy_exports_total\{outcome="complete"\} 1$/m);
  expect(metrics).toMatch(/^erp_proxy_exported_records_total 150$/m);
});
