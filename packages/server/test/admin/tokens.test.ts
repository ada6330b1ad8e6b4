/** Personal tokens of operators: how they are made, used, recorded and ended. */

import { TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { generateKey, TOKEN_PREFIX } from '@erp-proxy/control/keys/format';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { makeFolder } from '../process/program.ts';
import { type Json, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

const HOUR_MS = 3_600_000;

async function start() {
  const clock = { now: 1_800_000_000_000 };
  const admin = await startAdmin({ clock: () => clock.now });
  const make = async (input: object): Promise<Json> => (await admin.post('/tokens', input)).json;
  return { ...admin, clock, make };
}

test('a token is shown once, and the store has no text of it', async () => {
  const { post, get, clock, proxy, listAdminActions } = await start();
  const { status, json } = await post('/tokens', { name: 'Ada', role: 'approver' });
  expect(status).toBe(201);
  const { token, ...shown } = json;
  expect(token).toMatch(/^ept_[\dA-Za-z]{12}_[\dA-Za-z]{39}$/);
  expect(shown).toEqual({
    id: token.slice(4, 16),
    name: 'Ada',
    role: 'approver',
    instances: null,
    state: 'active',
    created_at: new Date(clock.now).toISOString(),
    created_by: TOKEN_ACTOR,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  });
  expect((await get('/tokens')).json).toEqual({ items: [shown], next: null });
  const stored = await proxy.app.store.operatorTokens.findById(shown.id);
  expect(stored?.secretHash).toHaveLength(32);
  expect(await listAdminActions()).toEqual([
    expect.objectContaining({
      actor: TOKEN_ACTOR,
      action: 'token.create',
      target: `token ${shown.id}`,
      changes: { name: { from: null, to: 'Ada' }, role: { from: null, to: 'approver' } },
    }),
  ]);
  expect(JSON.stringify(proxy.log)).not.toContain(token.slice(17));
});

test('what is done with a token has its id and name in the audit', async () => {
  const { make, post, get, proxy, listAdminActions } = await start();
  const { token, id } = await make({ name: 'Ada', role: 'operator' });
  const actor = { type: 'token', id, name: 'Ada' };
  await post('/keys', { name: 'Shop' }, { token });
  expect((await listAdminActions()).at(-1)).toMatchObject({ actor, action: 'key.create' });
  await proxy.app.audit.flush();
  const found = (await get(`/audit?actor=${id}`)).json.items;
  expect(found.map(({ action }: Json) => action).toSorted()).toEqual(['key.create', 'login.token']);
  const { body } = await get(`/audit/export?actor=${id}&action=key.create&format=csv`);
  expect(body.toString()).toMatch(new RegExp(`,key\\.create,.*,${id},.*,token,Ada,,,\r\n$`, 's'));
});

test('a token ends at its time, and once it is revoked', async () => {
  const { make, post, get, clock, listAdminActions } = await start();
  const expires_at = new Date(clock.now + HOUR_MS).toISOString();
  const short = await make({ name: 'short', role: 'viewer', expires_at });
  const revoked = await make({ name: 'revoked', role: 'viewer' });
  const ask = (token: string) => get('/keys', { token });
  expect((await ask(short.token)).status).toBe(200);
  clock.now += HOUR_MS;
  const expired = await ask(short.token);
  expect([expired.status, expired.json.detail]).toEqual([401, expect.stringContaining('has expired')]);

  expect((await ask(revoked.token)).status).toBe(200);
  const { status, json } = await post(`/tokens/${revoked.id}/revoke`);
  expect([status, json.state]).toEqual([200, 'revoked']);
  expect((await post(`/tokens/${revoked.id}/revoke`)).json).toEqual(json);
  expect((await ask(revoked.token)).json.detail).toMatch(/was revoked/);
  expect((await listAdminActions()).filter(({ action }) => action === 'token.revoke')).toEqual([
    expect.objectContaining({
      target: `token ${revoked.id}`,
      changes: { state: { from: 'active', to: 'revoked' } },
    }),
  ]);
  expect((await post('/tokens/unknown/revoke')).status).toBe(404);
  expect((await get('/tokens')).json.items.map(({ state }: Json) => state).toSorted()).toEqual([
    'expired',
    'revoked',
  ]);
});

test.each([
  ['of nobody', (_: string) => generateKey(TOKEN_PREFIX).text],
  ['with another secret', (token: string) => token.slice(0, 17) + generateKey(TOKEN_PREFIX).text.slice(17)],
  ['with a typo', (token: string) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
  ['that is cut', (token: string) => token.slice(0, 20)],
  ['in the form of a client key', (token: string) => token.replace('ept_', 'ep_')],
])('refuses a token %s, and records it as nobody', async (_, change) => {
  const { make, get, proxy } = await start();
  const { token } = await make({ name: 'Ada', role: 'admin' });
  expect((await get('/keys', { token: change(token) })).status).toBe(401);
  await proxy.app.audit.flush();
  const { items } = (await get('/audit?action=login.refused')).json;
  expect(items).toEqual([
    expect.objectContaining({ actor: { type: 'nobody', id: 'nobody', name: 'nobody' } }),
  ]);
});

test('a token starts no session of the console, and is no client key', async () => {
  const { make, post, proxy } = await start();
  const { token } = await make({ name: 'Ada', role: 'admin' });
  expect((await post('/session', { token }, { token: null })).status).toBe(401);
  expect((await proxy.post('{}', { 'x-proxy-api': token })).status).toBe(401);
});

test('no token is accepted while the store does not answer, but the admin token is', async () => {
  const { make, get, proxy } = await start();
  const { token } = await make({ name: 'Ada', role: 'admin' });
  const { operatorTokens } = proxy.app.store;
  operatorTokens.findById = async () => {
    throw Object.assign(new Error('gone'), { name: 'StoreError' });
  };
  expect((await get('/keys', { token })).status).toBe(503);
  expect((await get('/keys')).status).toBe(200);
});

test('the last use is stored', async () => {
  const { make, get, clock } = await start();
  const { token, id } = await make({ name: 'Ada', role: 'viewer' });
  clock.now += HOUR_MS;
  await get('/keys', { token });
  const lastUse = async () =>
    (await get('/tokens')).json.items.find((item: Json) => item.id === id).last_used_at;
  await expect.poll(lastUse).toBe(new Date(clock.now).toISOString());
});

test.each([
  [{ role: 'viewer' }, 'name'],
  [{ name: ' ', role: 'viewer' }, 'name'],
  [{ name: 'a\nb', role: 'viewer' }, 'name'],
  [{ name: 'Ada' }, 'role'],
  [{ name: 'Ada', role: 'owner' }, 'role'],
  [{ name: 'Ada', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  [{ name: 'Ada', role: 'viewer', expires_at: 'tomorrow' }, 'expires_at'],
  [{ name: 'Ada', role: 'viewer', instances: [] }, 'instances'],
  [{ name: 'Ada', role: 'viewer', instances: ['pr od'] }, 'instances'],
])('refuses %j', async (input, path) => {
  const { post } = await start();
  const { status, json } = await post('/tokens', input);
  expect(status).toBe(400);
  expect(json.faults).toEqual([expect.objectContaining({ path })]);
});

test('lists tokens page by page, the oldest first', async () => {
  const { make, get, clock } = await start();
  for (const name of ['a', 'b', 'c']) {
    clock.now += 1;
    await make({ name, role: 'viewer' });
  }
  const first = (await get('/tokens?limit=2')).json;
  const second = (await get(`/tokens?limit=2&cursor=${first.next}`)).json;
  expect([...first.items, ...second.items].map(({ name }: Json) => name)).toEqual(['a', 'b', 'c']);
  expect(second.next).toBeNull();
});

describe.each(['on the store', 'on a running proxy'] as const)('commands %s:', (where) => {
  async function startCommands() {
    const folder = makeFolder();
    const admin = await startAdmin({ settings: { ...SETTINGS, 'store.url': `sqlite:${folder}/proxy.db` } });
    const { url } = admin.proxy;
    const run = (args: readonly string[], token = TOKEN) =>
      runCommand([...args, ...(where === 'on the store' ? [] : ['--url', url])], {
        folder,
        env: { ERP_PROXY_ADMIN_TOKEN: token },
      });
    /** Runs a command on the running proxy. */
    const runRemote = (args: readonly string[], token: string) =>
      runCommand([...args, '--url', url], { folder, env: { ERP_PROXY_ADMIN_TOKEN: token } });
    return { ...admin, run, runRemote };
  }

  test('a token is created, listed, used by a command, and revoked', async () => {
    const { run, runRemote } = await startCommands();
    const { status, stdout, stderr } = await run([
      'tokens',
      'create',
      '--name=Ada',
      '--role=viewer',
      '--expires-in=1h',
    ]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ept_\S+\n$/);
    expect(stderr).toMatch(/Token \w{12} \("Ada", viewer\) is shown this once\./);
    const token = stdout.trim();
    const id = token.slice(4, 16);

    const [listed] = JSON.parse((await run(['tokens', 'list', '--json'])).stdout);
    expect(listed).toMatchObject({ id, role: 'viewer', state: 'active', expires_at: expect.any(String) });
    expect(listed.created_by.type).toBe(where === 'on the store' ? 'command' : 'token');
    expect((await runRemote(['keys', 'list'], token)).status).toBe(0);
    const refused = await runRemote(['keys', 'create', '--name=Shop'], token);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/needs the role `operator`; you have the role `viewer`/);

    expect((await run(['tokens', 'revoke', token])).stderr).toMatch(/give its id/);
    expect((await run(['tokens', 'revoke', id])).stdout).toBe(`Token ${id} is revoked.\n`);
    expect((await runRemote(['keys', 'list'], token)).stderr).toMatch(/was revoked/);
  });

  test('an incomplete command says what is missing', async () => {
    const { run } = await startCommands();
    const refusal = { status: 2, stderr: expect.stringMatching(/^Give --name and --role/) };
    expect(await run(['tokens', 'create', '--name=Ada'])).toMatchObject(refusal);
    expect(await run(['tokens', 'create', '--name=Ada', '--role=owner'])).toMatchObject({ status: 2 });
  });
});
