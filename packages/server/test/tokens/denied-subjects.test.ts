/**
 * Tests that when an administrator denies a subject, its tokens are refused in every process until it is allowed again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRemoteAdmin } from '../../src/cli/remote-admin.ts';
import { SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { makeSettings, send, startProxy } from '../harness.ts';
import { describeIssuer, makeClaims, makeKey, signToken, startIssuer } from './issuer.ts';

async function prepare() {
  const issuer = closeAfterTest(await startIssuer());
  const settings = {
    ...SETTINGS,
    'auth.issuers': JSON.stringify([describeIssuer(issuer)]),
    'http.publicUrl': 'https://erp.example.com',
  };
  const token = signToken(makeKey('first'), makeClaims(issuer, Date.now()));
  /** The status of a request with the token. 400: the token is accepted, and the body is refused. */
  const statusAt = async (url: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await send(`${url}/api/erp/execute`, { method: 'POST', headers, body: '{}' })).status;
  };
  return { settings, statusAt };
}

test('by the admin API, and records it', async () => {
  const { settings, statusAt } = await prepare();
  const { ask, listAdminActions, proxy } = await startAdmin({ settings });
  expect(await statusAt(proxy.url)).toBe(400);
  const denied = await ask('POST', '/denied-subjects', { body: { id: 'corp/ada' } });
  expect([denied.status, denied.json]).toEqual([200, { id: 'corp/ada', denied_at: expect.any(String) }]);
  expect(await statusAt(proxy.url)).toBe(401);
  expect((await ask('POST', '/denied-subjects', { body: { id: 'corp/ada' } })).json).toEqual(denied.json);
  expect((await ask('GET', '/denied-subjects')).json).toEqual({ items: [denied.json], next: null });
  expect((await ask('DELETE', '/denied-subjects/corp%2Fada')).status).toBe(204);
  expect(await statusAt(proxy.url)).toBe(400);
  expect((await ask('DELETE', '/denied-subjects/corp%2Fada')).status).toBe(404);
  expect((await listAdminActions()).map(({ action, target }) => [action, target])).toEqual([
    ['subject.deny', 'subject corp/ada'],
    ['subject.allow', 'subject corp/ada'],
  ]);
  const search = async () => (await ask('GET', '/audit?kind=call&key_id=corp/ada')).json.items;
  await expect.poll(search).toContainEqual(expect.objectContaining({ rule: 'key:revoked' }));
});

test('only if it has the form of one', async () => {
  const { settings } = await prepare();
  const { ask } = await startAdmin({ settings });
  for (const id of ['ada', 'corp/', '/ada', 'Corp/ada', 'corp/a b', `corp/${'x'.repeat(256)}`, 'corp/ä']) {
    expect((await ask('POST', '/denied-subjects', { body: { id } })).status).toBe(400);
    expect((await ask('DELETE', `/denied-subjects/${encodeURIComponent(id)}`)).status).toBe(404);
  }
});

test('only if tokens of its issuer are accepted', async () => {
  const { settings } = await prepare();
  const { ask } = await startAdmin({ settings });
  const refused = await ask('POST', '/denied-subjects', { body: { id: 'corpp/ada' } });
  expect([refused.status, refused.json.detail]).toEqual([
    400,
    expect.stringContaining(
      '`auth.issuers` nor `operators` has a provider "corpp"; there is corp. Nothing was changed.',
    ),
  ]);
  expect((await ask('GET', '/denied-subjects')).json.items).toEqual([]);
  const { 'auth.issuers': _, ...without } = settings;
  const none = await startAdmin({ settings: without });
  const other = await none.ask('POST', '/denied-subjects', { body: { id: 'corp/ada' } });
  expect([other.status, other.json.detail]).toEqual([400, expect.stringContaining('there is none')]);
});

test('by a command, for a subject with strange characters', async () => {
  const { settings } = await prepare();
  const proxy = closeAfterTest(await startProxy({ settings }));
  const { admin } = closeAfterTest(
    await openRemoteAdmin({ option: () => proxy.url, settings: makeSettings(settings), env: {} }),
  );
  const id = 'corp/auth0|a%2F../?#b';
  expect(await admin.denySubject({ id })).toMatchObject({ id });
  expect((await admin.listDeniedSubjects({})).items).toMatchObject([{ id }]);
  await admin.allowSubject(id);
  await expect(admin.allowSubject(id)).rejects.toThrow('is not denied');
});

test('in another process too', async () => {
  const { settings, statusAt } = await prepare();
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-subjects-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const shared = { ...settings, 'store.url': `sqlite:${join(folder, 'store.db')}` };
  const one = closeAfterTest(await startProxy({ settings: shared }));
  const other = closeAfterTest(await startProxy({ settings: shared }));
  expect(await statusAt(one.url)).toBe(400);
  await other.app.store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: Date.now() });
  await expect.poll(() => statusAt(one.url)).toBe(401);
});
