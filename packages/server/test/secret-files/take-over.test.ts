/** Tests docs/deployment.md: secrets in files that change while the proxy runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SettingName } from '../../src/config/schema.ts';
import { ODOO_SECRET, SETTINGS, startAdmin, TOKEN } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import {
  Browser,
  CLIENT_SECRET,
  describeOperators,
  startScriptedProvider,
} from '../operators/scripted-provider.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';
import { startCollector } from '../traces/collector.ts';

const OTHER_TOKEN = 'another-token-of-these-tests-0123456789';
const MASTER_KEY = SETTINGS['vault.masterKey'];
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64');
const THIRD_KEY = Buffer.alloc(32, 9).toString('base64');

async function start(
  names: readonly SettingName[],
  settings: Record<string, string> = {},
  allow: string[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-secrets-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const all: Record<string, string> = { ...SETTINGS, ...settings };
  const files = names.map((name) => ({ name, path: join(folder, name) }));
  const write = (name: SettingName, value: string) => writeFileSync(join(folder, name), `${value}\n`);
  for (const name of names) write(name, all[name] ?? '');
  const admin = await startAdmin({
    settings: all,
    secretFiles: files,
    allow,
    secrets: [OTHER_TOKEN, OTHER_KEY],
  });
  const { app, log } = admin.proxy;
  return {
    ...admin,
    write,
    /** Reads the files as often as it takes to take a value over. */
    async reload() {
      await app.secretFiles.check();
      await app.secretFiles.check();
    },
    listLines: () => log.filter(({ msg }) => String(msg).startsWith('secret ')),
    async listTakeovers(token = TOKEN) {
      await app.audit.flush();
      const { json } = await admin.get('/audit?action=setting.reload', { token });
      return json.items;
    },
  };
}

test('another admin token works at once, the former one no longer, and the audit has no value', async () => {
  const { get, post, write, reload, listTakeovers, listLines, proxy } = await start(['admin.token']);
  const session = await post('/session', { token: TOKEN }, { token: null });
  expect(session.status).toBe(200);
  const cookie = String(session.headers['set-cookie']).split(';')[0] ?? '';
  write('admin.token', OTHER_TOKEN);
  await reload();
  expect((await get('/keys')).status).toBe(401);
  expect((await get('/keys', { token: null, headers: { cookie } })).status).toBe(401);
  expect((await get('/keys', { token: OTHER_TOKEN })).status).toBe(200);
  expect(await listTakeovers(OTHER_TOKEN)).toMatchObject([
    {
      actor: { type: 'proxy' },
      target: 'setting admin.token',
      changes: {
        value: { from: '(secret)', to: '(secret)' },
        process: { from: null, to: expect.any(String) },
      },
    },
  ]);
  expect(listLines()).toMatchObject([{ level: 'info', msg: 'secret taken over', setting: 'admin.token' }]);
  expect(JSON.stringify(proxy.log)).not.toContain(OTHER_TOKEN);
});

test('another secret of the client is used from the next sign-in on, and sessions go on', async () => {
  const provider = await startScriptedProvider();
  const { write, reload, proxy } = await start(['operators.clientSecret'], describeOperators(provider));
  const browser = new Browser(proxy);
  await browser.signIn();
  write('operators.clientSecret', 'another-secret-of-the-proxy');
  await reload();
  expect((await browser.session()).status).toBe(200);
  await new Browser(proxy).signIn();
  expect(provider.asked.map((asked) => asked.get('client_secret'))).toEqual([
    CLIENT_SECRET,
    'another-secret-of-the-proxy',
  ]);
});

test('other headers for the collector are sent with the next export', async () => {
  const collector = closeAfterTest(await startCollector());
  const settings = { 'otel.endpoint': collector.url, 'otel.headers': 'x-token=one' };
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const { write, reload, proxy } = await start(['otel.headers'], settings, [upstream.url]);
  write('otel.headers', 'x-token=two');
  await reload();
  await proxy.call(printCall(upstream.url));
  await proxy.close();
  expect(collector.requests.map(({ headers }) => headers['x-token'])).toEqual(['two']);
});

test('a value that is not taken over is in the log, in the checks, and needs attention', async () => {
  const secret = 'secret-of-the-hashes-'.repeat(3);
  const { get, write, reload, listTakeovers, listLines } = await start(['keys.hashSecret', 'admin.token'], {
    'keys.hashSecret': secret,
  });
  expect((await get('/status')).json.checks.secret_files).toEqual({ state: 'ok', detail: null });
  write('keys.hashSecret', `${secret}2`);
  write('admin.token', 'short');
  await reload();
  const detail =
    'keys.hashSecret: the file has another value, which takes effect after a restart; admin.token: admin.token must be a text of at least 32 characters';
  const { json } = await get('/status');
  expect(json.checks.secret_files.state).toBe('degraded');
  expect(json.checks.secret_files.detail.split('; ').sort()).toEqual(detail.split('; ').sort());
  expect((await get('/attention')).json.items).toMatchObject([
    { kind: 'check_failed', severity: 'warning', target: 'check secret_files' },
  ]);
  expect(listLines()).toHaveLength(2);
  expect(listLines()[0]).toMatchObject({ level: 'warn', msg: 'secret not taken over' });
  expect(await listTakeovers()).toEqual([]);
});

test('the master key is changed in three steps while an instance is called', async () => {
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const names = ['vault.masterKey', 'vault.otherMasterKeys'] as const;
  const settings = { 'vault.otherMasterKeys': THIRD_KEY };
  const started = await start(names, settings, [upstream.url]);
  const { post, write, reload, listTakeovers, listAdminActions, proxy } = started;
  const PROD = { name: 'prod', url: upstream.url, db: 'prod', user_id: 2, api_key: `${ODOO_SECRET}1` };
  expect((await post('/instances', PROD)).status).toBe(201);
  const problems = () => [...proxy.app.secretFiles.problems.values()];
  const call = async () => {
    const body = { ...JSON.parse(printCall(upstream.url)), erp_instance: { name: 'prod' } };
    expect((await proxy.call(body)).json).toHaveProperty('result');
  };

  // Another replica might not know the new key yet.
  write('vault.masterKey', OTHER_KEY);
  await reload();
  expect(problems()).toEqual([expect.stringMatching(/must first be in vault.otherMasterKeys/)]);
  await call();

  write('vault.masterKey', MASTER_KEY);
  write('vault.otherMasterKeys', OTHER_KEY);
  await reload();
  expect(problems()).toEqual([]);

  // The former key would be missing.
  write('vault.masterKey', OTHER_KEY);
  await reload();
  expect(problems()).toEqual([expect.stringMatching(/former master key/)]);

  write('vault.otherMasterKeys', MASTER_KEY);
  await reload();
  expect(problems()).toEqual([]);
  await call();
  await expect.poll(async () => (await listAdminActions()).at(-1)?.action).toBe('vault.reseal');
  await call();

  write('vault.otherMasterKeys', THIRD_KEY);
  await reload();
  expect(problems()).toEqual([]);
  await call();
  expect(await listTakeovers()).toHaveLength(4);
});

test('a master key under which something is sealed is not removed', async () => {
  const names = ['vault.masterKey', 'vault.otherMasterKeys'] as const;
  const { post, write, reload, proxy } = await start(names, { 'vault.otherMasterKeys': THIRD_KEY });
  const PROD = { name: 'prod', url: 'https://erp.example.com', db: 'prod', user_id: 2 };
  await post('/instances', { ...PROD, api_key: `${ODOO_SECRET}1` });
  const { store } = proxy.app;
  const row = await store.instances.findByName('prod');
  const body = row!.body;
  // As another replica that has taken the third key over.
  await store.instances.replace(row!.id, row!.version, { ...row!, masterKeyId: 'ffffffff', body }, undefined);
  write('vault.otherMasterKeys', OTHER_KEY);
  await reload();
  expect([...proxy.app.secretFiles.problems.values()]).toEqual([
    expect.stringMatching(/sealed under master keys that are not set here: ffffffff/),
  ]);
});
