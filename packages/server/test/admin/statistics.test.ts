/** `GET /admin/v1/stats`, and the commands that show it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';
import { SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

async function startWithCalls() {
  const upstream = closeAfterTest(await startUpstream((socket) => answerLikeOdoo(socket, printResult('[]'))));
  const admin = await startAdmin({ allow: [upstream.url], settings: SETTINGS });
  for (let count = 0; count < 3; count++) await admin.proxy.call(makeCall(upstream.url));
  await admin.proxy.call(makeCall(upstream.url, { action: '_private' }));
  await admin.proxy.post('{}', { 'x-proxy-api': 'ep_unknown' });
  return { ...admin, upstream };
}

test('counts calls and refused requests by what they called', async () => {
  const { get, upstream } = await startWithCalls();
  const { status, json } = await get('/stats?by=model');
  expect(status).toBe(200);
  expect(json.total).toMatchObject({ calls: 5, errors: { action_invalid: 1, unauthorized: 1 } });
  expect(json.total.odoo_ms.p50).toBeGreaterThan(0);
  expect(json.groups.map(({ name, calls }: { name: string; calls: number }) => [name, calls])).toEqual([
    ['res.partner', 3],
    [null, 2],
  ]);
  expect(json.now).toEqual({ in_flight: 0, queued: 0 });
  const ofServer = await get(`/stats?instance=${encodeURIComponent(upstream.url)}`);
  expect(ofServer.json.total.calls).toBe(3);
});

test('a key and its successor by rotation are one client, in calls and in refused requests', async () => {
  const upstream = closeAfterTest(await startUpstream((socket) => answerLikeOdoo(socket, printResult('[]'))));
  const { proxy, post, get } = await startAdmin({ allow: [upstream.url], settings: SETTINGS });
  const policy = { origins: ['*'], models: { '*': ['*'] }, per_day: 2 };
  const { json: old } = await post('/keys', { name: 'Shop', policy });
  const { json: fresh } = await post(`/keys/${old.id}/rotate`, { overlap_seconds: 60 });
  for (const { key } of [old, fresh, old, fresh])
    await proxy.call(makeCall(upstream.url), { 'x-proxy-api': key });
  const { json } = await get('/stats?by=key');
  expect(json.groups).toEqual([
    expect.objectContaining({ name: old.id, calls: 4, errors: { rate_limited: 2 } }),
  ]);
});

test.each([
  'since=yesterday',
  'since=2026-02-30',
  'since=2026-03-02&until=2026-03-01',
  'since=2020-01-01&until=2026-01-01',
  'step=day',
  'by=db',
  'limit=0',
  'limit=x',
  'limit=1001',
  'page=2',
])('refuses %s', async (query) => {
  const { get } = await startAdmin();
  expect((await get(`/stats?${query}`)).status).toBe(400);
});

test('the commands show the calls of a running proxy', async () => {
  const { proxy } = await startWithCalls();
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-statistics-'));
  closeAfterTest({ close: async () => rmSync(folder, { recursive: true }) });
  const run = (...args: string[]) =>
    runCommand([...args, '--url', proxy.url], { folder, env: { ERP_PROXY_ADMIN_TOKEN: TOKEN } });
  const status = await run('status');
  expect(status).toMatchObject({ status: 0, stderr: '' });
  expect(status.stdout).toMatch(/^erp-proxy \S+, started \S+, store memory\n {2}store: ok/);
  expect(status.stdout).toMatch(
    /5 calls since \S+: 2 errors, 0 refused, .*; Odoo p50 [\d.]+, p95 [\d.]+, p99 [\d.]+ ms; 0 in flight, 0 queued\n/,
  );
  const top = await run('top', '--by', 'action', '--last', '2h');
  expect(top.stdout).toMatch(/^5 calls .*\n\nread\t3\t0\t[\d.]+ ms\t/);
  expect(top.stdout).toMatch(/^\(without a known action\)\t2\t2\t/m);
  expect(JSON.parse((await run('top', '--json')).stdout).groups[0]).toMatchObject({ name: 'res.partner' });
  expect(await run('top', '--by', 'db')).toMatchObject({ status: 2 });
  expect(await run('top', '--last', 'soon')).toMatchObject({ status: 2 });
});

test('`status` of a store says nothing of a start, which would be that of the command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-statistics-'));
  closeAfterTest({ close: async () => rmSync(folder, { recursive: true }) });
  await runCommand(['keys', 'create', '--name=shop'], { folder });
  const { stdout } = await runCommand(['status'], { folder, env: {} });
  expect(stdout).toMatch(/^erp-proxy \S+, store sqlite .+\n {2}store: ok/);
});
