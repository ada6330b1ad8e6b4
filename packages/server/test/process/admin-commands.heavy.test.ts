/**
 * Tests the commands that administer keys, instances and the audit. They work alike on the store of the settings and on
 * a running proxy. Most tests run in this process, on a real SQLite file and over real HTTP; the last ones start the
 * real program.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { createFileOfVersion1 } from '@erp-proxy/stores/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Ran, runCommand } from '../commands/run-command.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { ENTRY, makeFolder, runProgram, startServer, startShell } from './program.ts';

const TOKEN = 'an-admin-token-of-more-than-32-characters';
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = 'odoo-key-0123456789abcdef';
const HOUR_MS = 3_600_000;
const POLICY = 'instances: [prod]\nmodels: { res.partner: ["search*"] }\nlimit_max: 10\n';

const call = (changes: Record<string, unknown> = {}) =>
  JSON.stringify({
    action: 'search_read',
    model_id: 'res.partner',
    params: [[]],
    erp_instance: { name: 'prod' },
    ...changes,
  });

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const put = (file: string, text: string) => writeFileSync(join(folder, file), text);
const makePipe = () => execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', join(folder, 'pipe')]);

/**
 * Opens the pipe once `applying` reads it. Rejects if `applying` ends before, which would leave the pipe without a
 * reader.
 */
const openPipe = (applying: Promise<{ stderr: string }>) =>
  Promise.race([
    open(join(folder, 'pipe'), 'w'),
    applying.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);

/** Runs a command. The line that names the store is left out of `stderr`, unless it is asked for. */
async function runHere(
  args: readonly string[],
  env: Record<string, string> = {},
  input: string | null = null,
  output: 'whole' | 'without store' = 'without store',
): Promise<Ran> {
  const ran = await runCommand(args, { folder, env, input });
  return output === 'whole' ? ran : { ...ran, stderr: ran.stderr.replace(/^Store: .*\n/, '') };
}

describe.each(['on the store', 'on a running proxy'] as const)('%s:', (where) => {
  let proxy: RunningProxy | null = null;
  let printed: string;
  beforeEach(async () => {
    printed = '';
    if (where === 'on the store') return;
    proxy = await startProxy({
      settings: {
        'store.url': `sqlite:${join(folder, 'proxy.db')}`,
        'admin.token': TOKEN,
        'vault.masterKey': MASTER_KEY,
      },
    });
  });
  afterEach(async () => {
    await proxy?.close();
    proxy = null;
    expect(printed, 'no command shows the key of an instance').not.toContain(SECRET);
  });

  /** Runs a command with the arguments and variables that all commands need. */
  async function run(...args: string[]): Promise<Ran> {
    const ran =
      proxy === null
        ? await runHere(args, { ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY, ODOO_KEY: SECRET })
        : await runHere([...args, '--url', proxy.url], { ERP_PROXY_ADMIN_TOKEN: TOKEN, ODOO_KEY: SECRET });
    printed += ran.stdout + ran.stderr;
    return ran;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  async function runJson(...args: string[]): Promise<any> {
    const { status, stdout, stderr } = await run(...args, '--json');
    expect({ status, stderr }, args.join(' ')).toEqual({ status: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  async function addInstance(): Promise<void> {
    put('key', `${SECRET}\n`);
    const { status, stderr } = await run(
      ...['instances', 'add', 'prod', '--erp-url', 'https://erp.example', '--db', 'prod', '--user-id', '2'],
      ...['--api-key-file', 'key'],
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }

  test('a key can be created with a policy, shown, changed, rotated and revoked', async () => {
    put('policy.yaml', POLICY);
    const made = await runJson(
      'keys',
      'create',
      '--name',
      'shop',
      '--policy',
      'policy.yaml',
      '--expires-in',
      '2h',
    );
    expect(made).toMatchObject({ name: 'shop', state: 'active', policy: { limit_max: 10 }, version: 1 });
    expect(Object.keys(made).slice(0, 2)).toEqual(['id', 'key']);
    const { key, ...view } = made;
    expect(await runJson('keys', 'show', made.id)).toEqual(view);
    expect(key.startsWith(`ep_${made.id}_`)).toBe(true);

    const changed = await runJson(
      'keys',
      'update',
      made.id,
      '--no-policy',
      '--name',
      'app',
      '--expires-in',
      'never',
    );
    expect(changed).toMatchObject({ name: 'app', policy: null, expires_at: null, version: 2 });

    const next = await runJson('keys', 'rotate', made.id, '--overlap', '12h');
    expect(next).toMatchObject({ name: 'app', replaces: made.id });
    const old = await runJson('keys', 'show', made.id);
    const overlapMs = Date.parse(old.expires_at) - Date.parse(next.created_at);
    expect(Math.abs(overlapMs - 12 * HOUR_MS)).toBeLessThan(HOUR_MS / 60);

    expect(await runJson('keys', 'revoke', made.id)).toMatchObject({ id: made.id, state: 'revoked' });
    expect(await runJson('keys', 'list', '--state', 'revoked')).toMatchObject([{ id: made.id }]);
    expect(await runJson('keys', 'list', '--search', 'APP', '--state', 'active')).toMatchObject([
      { id: next.id },
    ]);
    expect(await run('keys', 'list', '--search', 'nobody')).toMatchObject({
      stdout: '',
      stderr: 'No key matches.\n',
    });
  });

  test('a publishable key can be created, and only a harmless one', async () => {
    const CREATE = ['keys', 'create', '--name=page', '--publishable'];
    const PAGE = ['--origin', 'https://shop.example.com'];
    const NAMES = ['--models', 'product.template, res.country'];
    const MODELS = [
      ...NAMES,
      '--fields',
      'product.template=name, list_price',
      '--fields',
      'res.country=name',
    ];
    expect((await run(...CREATE, ...PAGE, ...MODELS)).stderr).toContain(
      'there is none: see erp-proxy instances add',
    );
    await addInstance();
    const made = await runJson(...CREATE, ...PAGE, '--origin', 'http://localhost:5173', ...MODELS);
    expect(made.policy).toEqual({
      instances: ['prod'],
      models: { 'product.template': ['*'], 'res.country': ['*'] },
      fields: { 'product.template': { allow: ['name', 'list_price'] }, 'res.country': { allow: ['name'] } },
      read_only: true,
      cors_origins: ['https://shop.example.com', 'http://localhost:5173'],
      publishable: true,
    });
    expect((await run('keys', 'list')).stdout).toMatch(/active\s+publishable/);

    put(
      'reads.yaml',
      'instances: [prod]\nmodels: { res.country: [read] }\nread_only: true\nlimit_max: 9\nfields: { res.country: { allow: [name] } }\n',
    );
    const limited = await runJson(...CREATE, ...PAGE, '--policy', 'reads.yaml');
    expect(limited.policy).toMatchObject({ limit_max: 9, publishable: true, read_only: true });

    put('writes.yaml', 'instances: [prod]\nmodels: { res.country: ["*"] }\n');
    const stays = await run('keys', 'update', made.id, '--policy', 'writes.yaml');
    expect([stays.status, stays.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('stays publishable'),
    ]);
    expect(stays.status).not.toBe(0);
    expect((await run('keys', 'update', made.id, '--no-policy')).stderr).toContain('stays publishable');

    put('bound.yaml', 'instances: [prod]\nmodels: { a: [read] }\nread_only: true\ncors_origins: ["*"]\n');
    const refused: [string[], RegExp][] = [
      [[...PAGE], /Name the models/],
      [
        [...PAGE, ...NAMES],
        /--fields 'product\.template=name,list_price,.*' --fields 'res\.country=name,code'/,
      ],
      [[...PAGE, ...MODELS, '--fields', 'res.users=login'], /give a model of --models/],
      [[...MODELS], /Give the origin/],
      [[...PAGE, '--models', '*'], /models\["\*"\]: must be a name/],
      [['--origin', '*', ...MODELS], /cors_origins\[0\]: must be a name without/],
      [['--origin', 'http://shop.example.com', ...MODELS], /cors_origins\[0\]: must begin with https/],
      [[...PAGE, '--policy', 'writes.yaml'], /read_only: must be true/],
      [['--policy', 'reads.yaml'], /cors_origins: must name/],
      [['--policy', 'bound.yaml'], /cors_origins\[0\]: must be a name without/],
      [[...PAGE, '--policy', 'bound.yaml'], /leave out --origin/],
      [[...PAGE, ...MODELS, '--policy', 'reads.yaml'], /leave out --models/],
    ];
    for (const [options, message] of refused) {
      const { status, stdout, stderr } = await run(...CREATE, ...options);
      expect({ status, stdout, stderr }).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(message),
      });
    }
    const unmarked = await run('keys', 'create', '--name=page', ...PAGE);
    expect(unmarked.stderr).toMatch(/are for --publishable keys/);
    expect((await runJson('keys', 'list')).length).toBe(where === 'on the store' ? 2 : 3);
  });

  test('keys explain prints the rule that decides and the values that are set, and exits with 0 or 1', async () => {
    put('policy.yaml', POLICY);
    put('allowed.json', call());
    put('denied.json', call({ action: 'write' }));
    const { id } = await runJson('keys', 'create', '--name=shop', '--policy', 'policy.yaml');
    const allowed = await run('keys', 'explain', '--key', id, '--call', 'allowed.json');
    expect(allowed).toMatchObject({ status: 0, stderr: '' });
    expect(allowed.stdout).toMatch(/^allowed by models\["res\.partner"\]: .*\n {2}sets limit to 10\n$/);
    const denied = await run('keys', 'explain', '--key', id, '--call', 'denied.json', '--json');
    expect(denied).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(denied.stdout)).toMatchObject({ allowed: false, sets: {} });
    const fromPage = await run(
      ...['keys', 'explain', '--key', id, '--call', 'allowed.json', '--origin', 'https://shop.example'],
    );
    expect(fromPage.status).toBe(1);
    expect(fromPage.stdout).toMatch(/^denied by cors_origins: /);
    put('fields.yaml', `${POLICY}fields: {res.partner: {deny: [vat, "signup_*"]}}\n`);
    await run('keys', 'update', id, '--policy', 'fields.yaml');
    const listed = await run('keys', 'explain', '--key', id, '--call', 'allowed.json');
    expect(listed.stdout).toMatch(/\n {2}names the fields of the model: all but vat, signup_\*\n/);
  });

  test('an instance can be added, shown, changed and removed, and its key is never shown', async () => {
    await addInstance();
    const again = await run(
      'instances',
      'add',
      'prod',
      '--erp-url=https://b.example',
      '--db=b',
      '--user-id=1',
      '--api-key-file=key',
    );
    expect(again).toMatchObject({ status: 1, stdout: '' });
    expect(again.stderr).toMatch(/an instance "prod" already/);
    expect(await runJson('instances', 'show', 'prod')).toMatchObject({
      url: 'https://erp.example',
      user_id: 2,
    });
    const changed = await runJson(
      ...[
        'instances',
        'update',
        'prod',
        '--timeout-ms',
        '500',
        '--allow-private',
        '--concurrency',
        '3',
        '--api-key-file',
        'key',
      ],
    );
    expect(changed).toMatchObject({ timeout_ms: 500, allow_private: true, concurrency: 3 });
    const back = await runJson('instances', 'update', 'prod', '--timeout-ms', 'none', '--no-allow-private');
    expect(back).toMatchObject({ timeout_ms: null, allow_private: false, concurrency: 3 });
    const moved = await run('instances', 'update', 'prod', '--erp-url', 'https://elsewhere.example');
    expect(moved.status).toBe(2);
    expect(moved.stderr).toMatch(/url: .*another server/);
    expect(await runJson('instances', 'list')).toMatchObject([{ name: 'prod' }]);
    expect(await runJson('vault', 'reseal')).toEqual({ resealed: 0 });
    expect((await run('instances', 'remove', 'prod')).status).toBe(0);
    expect(await run('instances', 'show', 'prod')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no instance "prod".\n',
    });
  });

  test('the key of an instance is replaced at Odoo', async () => {
    const odoo = await startSandbox({ version: 19 });
    try {
      const { userId, apiKey } = odoo.users.admin;
      put('key', apiKey);
      const address = [
        '--erp-url',
        odoo.url,
        '--allow-private',
        '--db',
        odoo.db,
        '--user-id',
        String(userId),
      ];
      await runJson('instances', 'add', 'demo', ...address, '--api-key-file', 'key');
      const rotated = await runJson('instances', 'rotate-key', 'demo');
      expect(rotated.key).toMatchObject({ state: 'ok', failure: null });
      expect(Date.parse(rotated.key.expires_at)).toBeGreaterThan(Date.now());
    } finally {
      await odoo.close();
    }
  });

  test('every action is in the audit, which can be listed, exported and verified', async () => {
    await addInstance();
    const { id } = await runJson('keys', 'create', '--name', '=shop');
    const [action] = await runJson(
      'audit',
      'list',
      '--kind',
      'admin',
      '--action',
      'key.create',
      '--since',
      '5m',
    );
    expect(action).toMatchObject({
      target: `key ${id}`,
      actor: { id: where === 'on the store' ? expect.stringMatching(/^cli:.+@.+$/) : 'token' },
    });
    expect(await runJson('audit', 'list', '--until', '5m')).toEqual([]);
    expect(await runJson('audit', 'list', '--limit', '1')).toHaveLength(1);

    const lines = (await run('audit', 'export', '--kind', 'admin')).stdout.trim().split('\n');
    const actions = lines.map((line) => JSON.parse(line).action).filter((action) => action !== 'login.token');
    expect(actions).toEqual(['instance.create', 'key.create']);
    const exported = (await run('audit', 'export', '--kind', 'admin', '--format', 'csv')).stdout;
    const csv = exported.split('\r\n').filter((line) => !line.includes('login.token'));
    expect(csv[0]).toMatch(/^seq,time,kind,/);
    expect(csv).toHaveLength(4);

    const verification = await runJson('audit', 'verify');
    expect(verification).toMatchObject({ intact: true, fault: null });
    expect((await run('audit', 'verify', '--head', verification.head)).status).toBe(0);
    const forged = `${verification.head.split(':')[0]}:${'0'.repeat(64)}`;
    const broken = await run('audit', 'verify', '--head', forged);
    expect(broken.status).toBe(1);
    expect(broken.stdout).toMatch(/^Not intact, at record \d+: /);
  });

  test('apply makes the changes of the file once, and export prints the same file', async () => {
    await runJson('keys', 'create', '--name', 'shop');
    put(
      'proxy.yaml',
      `policies:
  base: { instances: [prod], models: { res.partner: [read] } }
keys:
  - { name: shop, policy: { extends: base, limit_max: 5 } }
  - { name: app, policy: base }
instances:
  - { name: prod, url: "https://erp.example", db: prod, user_id: 2, api_key: { env: ODOO_KEY } }
`,
    );
    const missing = await run('apply', '-f', 'proxy.yaml');
    expect(missing).toMatchObject({ status: 2, stdout: '' });
    expect(missing.stderr).toMatch(
      /^proxy\.yaml:5: there is no active key "app".*\nNothing was changed\.\n$/,
    );

    const dry = await run('apply', '-f', 'proxy.yaml', '--create-keys', '--dry-run');
    expect(dry).toMatchObject({ status: 0, stderr: '' });
    expect(dry.stdout).toMatch(
      /^\+ instance prod\n {4}url: "https:\/\/erp\.example"\n[\s\S]* {4}api_key: "\(secret\)"\n/,
    );
    expect(dry.stdout).toMatch(/\n~ key shop \(\w+\)\n {4}policy: null → \{/);
    expect(dry.stdout).toMatch(/\n\+ key app\n/);
    expect(dry.stdout).toContain('2 to add, 1 to change, 0 as they are. Nothing was changed');
    expect(await runJson('instances', 'list')).toEqual([]);

    const applied = await runJson('apply', '-f', 'proxy.yaml', '--create-keys');
    expect(applied.steps.map(({ state }: { state: string }) => state)).toEqual(['done', 'done', 'done']);
    expect(applied.created_keys).toEqual([
      { id: expect.any(String), name: 'app', key: expect.stringMatching(/^ep_/) },
    ]);
    expect(await runJson('keys', 'list', '--search', 'shop')).toMatchObject([
      { policy: { instances: ['prod'], models: { 'res.partner': ['read'] }, limit_max: 5 } },
    ]);

    const second = await run('apply', '--file', 'proxy.yaml', '--create-keys');
    expect(second).toMatchObject({ status: 0, stderr: '' });
    expect(second.stdout).toMatch(
      /^= instance prod\n= key shop \(\w+\)\n= key app \(\w+\)\n\nNothing to change\.\n$/,
    );

    expect((await run('config', 'export', '-o', 'out.yaml')).status).toBe(0);
    const third = await run('apply', '-f', 'out.yaml', '--require-end');
    expect(third.stdout).toMatch(/^(= .*\n)+\nNothing to change\.\n$/);
  });

  test('apply replaces stored keys of instances only on request, and reads all key files before it changes anything', async () => {
    await addInstance();
    put('proxy.yaml', 'instances:\n  - { name: prod, concurrency: 4, api_key: { file: ./gone } }\n');
    const refused = await run('apply', '-f', 'proxy.yaml', '--update-secrets');
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^proxy\.yaml:2: .*gone: there is no such file\n/);
    expect(await runJson('instances', 'show', 'prod')).toMatchObject({ concurrency: null });
    expect((await runJson('apply', '-f', 'proxy.yaml')).steps).toMatchObject([
      { state: 'done', changes: { concurrency: { from: null, to: 4 } } },
    ]);
    put('gone', `${SECRET}2\n`);
    expect((await runJson('apply', '-f', 'proxy.yaml', '--update-secrets')).steps).toMatchObject([
      { state: 'done', changes: { api_key: { from: '(secret)', to: '(secret)' } } },
    ]);
  });

  test('apply changes no instance that was removed and added again after the plan was made', async () => {
    put('key', SECRET);
    const add = (db: string) =>
      run('instances', 'add', 'prod', '--erp-url=https://a.example', db, '--user-id=2', '--api-key-file=key');
    expect((await add('--db=old')).status).toBe(0);
    put('proxy.yaml', 'instances: [{ name: prod, db: wanted, api_key: { file: ./pipe } }]\n');
    // The command reads the key from the pipe, after it has made the plan.
    makePipe();
    const applying = run('apply', '-f', 'proxy.yaml', '--update-secrets');
    const pipe = await openPipe(applying);
    expect((await run('instances', 'remove', 'prod')).status).toBe(0);
    expect((await add('--db=new')).status).toBe(0);
    await pipe.writeFile(SECRET);
    await pipe.close();
    const applied = await applying;
    expect(applied.status).toBe(1);
    expect(applied.stderr).toContain('It was removed, and one of the same name was added');
    expect(await runJson('instances', 'show', 'prod')).toMatchObject({ db: 'new', version: 1 });
  });

  test('apply creates no key whose name was taken after the plan was made', async () => {
    put(
      'proxy.yaml',
      `keys: [{ name: shop, policy: null }]
instances:
  - { name: prod, url: "https://a.example", db: prod, user_id: 2, api_key: { file: ./pipe } }
`,
    );
    makePipe();
    const applying = run('apply', '-f', 'proxy.yaml', '--create-keys');
    const pipe = await openPipe(applying);
    expect((await run('keys', 'create', '--name', 'shop')).status).toBe(0);
    await pipe.writeFile(SECRET);
    await pipe.close();
    const applied = await applying;
    expect(applied.status).toBe(1);
    expect(applied.stderr).toContain('A key "shop" was created after the plan was made: apply again');
    expect(await runJson('keys', 'list', '--search', 'shop')).toHaveLength(1);
  });

  test('an error is explained and changes nothing', async () => {
    put('policy.yaml', 'instances: [prod]\nmodels:\n  res.partner: ["re?d"]\nlimit_mx: 4\n');
    const policy = await run('keys', 'create', '--policy', 'policy.yaml');
    expect(policy).toMatchObject({ status: 2, stdout: '' });
    expect(policy.stderr).toMatch(
      /^policy\.yaml:3: models\["res\.partner"\]\[0\]: .*\npolicy\.yaml:4: limit_mx: .*\n$/,
    );
    const { key } = await runJson('keys', 'create', '--name=shop');
    expect(await run('keys', 'revoke', 'nobody')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no key "nobody".\n',
    });
    const text = await run('keys', 'show', key);
    expect(text).toMatchObject({ status: 2, stderr: expect.stringContaining('give its id') });
    expect(text.stderr).not.toContain(key);
    expect((await run('instances', 'rotate-key', 'nobody')).stderr).toBe('There is no instance "nobody".\n');
    expect((await run('audit', 'list', '--since', 'yesterday')).status).toBe(2);
    expect(await run('config', 'export', '-o', 'no/such/folder.yaml')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^\S*no\/such\/folder\.yaml: the file cannot be written \(ENOENT\)\n$/),
    });
    expect((await run('instances', 'update', 'prod')).status).toBe(2);
    expect((await run('keys', 'update', 'x', '--no-policy', '--policy', 'policy.yaml')).status).toBe(2);
  });
});

test('keys list and apply read all pages of keys', async () => {
  const proxy = await startProxy({ settings: { 'admin.token': TOKEN } });
  try {
    for (let count = 0; count < 520; count++) await proxy.app.keys.create({ name: 'many' });
    const remote = (...args: string[]) =>
      runHere([...args, '--url', proxy.url], { ERP_PROXY_ADMIN_TOKEN: TOKEN });
    expect(JSON.parse((await remote('keys', 'list', '--search', 'many', '--json')).stdout)).toHaveLength(520);
    put('keys.yaml', 'keys: [{ name: many, policy: null }]\n');
    expect(JSON.parse((await remote('apply', '-f', 'keys.yaml', '--json')).stdout).steps).toHaveLength(520);
  } finally {
    await proxy.close();
  }
});

test('apply refuses a truncated file, also from standard input, and changes nothing', async () => {
  put('policy.yaml', POLICY);
  await runHere(['keys', 'create', '--name=shop', '--policy=policy.yaml']);
  const whole = `keys:\n  - name: shop\n    policy:\n${POLICY.replace(/^/gm, '      ').trimEnd()}00\n`;
  const cut = whole.slice(0, -2);
  put('cut.yaml', cut);
  const says = /^\S+:6: the last line has no line break: .*\nNothing was changed\.\n$/;
  expect(await runHere(['apply', '-f', 'cut.yaml'])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(says),
  });
  expect(await runHere(['apply', '-f', '-'], {}, cut)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(says),
  });
  const unmarked = await runHere(['apply', '-f', '-', '--require-end'], {}, whole);
  expect(unmarked).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^-:6: the end mark is missing: /),
  });
  const policies = JSON.parse((await runHere(['keys', 'list', '--json'])).stdout);
  expect(policies).toMatchObject([{ policy: { limit_max: 10 } }]);
  expect((await runHere(['apply', '-f', '-', '--require-end'], {}, `${whole}...\n`)).status).toBe(0);
});

test('a truncated policy file is refused; a file in braces is complete without a final line break', async () => {
  put('cut.yaml', POLICY.trimEnd());
  const cut = await runHere(['keys', 'create', '--policy=cut.yaml']);
  expect(cut).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^cut\.yaml:3: the last line has no line break/),
  });
  put('policy.json', '{"instances": ["prod"], "models": {"res.partner": ["read"]}}');
  expect((await runHere(['keys', 'create', '--name=shop', '--policy=policy.json'])).status).toBe(0);
});

test('every command refuses a file with a duplicate member', async () => {
  const policy = '{"instances": ["prod"], "models": {"res.partner": ["read"],\n"res.partner": ["*"]}}\n';
  put('policy.json', policy);
  const created = await runHere(['keys', 'create', '--name=shop', '--policy=policy.json']);
  expect(created).toMatchObject({ status: 2, stdout: '' });
  expect(created.stderr).toBe('policy.json:2: this name stands twice in its group; keep one\n');
  put('proxy.yaml', `keys:\n  - name: shop\n    policy: ${policy.replace('\n', ' ')}`);
  expect(await runHere(['apply', '-f', 'proxy.yaml'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('proxy.yaml:3: this name stands twice in its group; keep one\n'),
  });
  const { id } = JSON.parse((await runHere(['keys', 'create', '--name=shop', '--json'])).stdout);
  put('call.json', call().replace('{', '{"action":"read",'));
  const explained = await runHere(['keys', 'explain', '--key', id, '--call=call.json']);
  expect(explained).toMatchObject({ status: 2, stdout: '' });
  expect(explained.stderr).toBe('call.json: The member action appears twice: keep one.\n');
});

test('an unreadable stored policy is shown as such, left out of an export, and replaced by apply with a notice', async () => {
  put('policy.yaml', POLICY);
  const { id } = JSON.parse(
    (await runHere(['keys', 'create', '--name=shop', '--policy=policy.yaml', '--json'])).stdout,
  );
  await runHere(['keys', 'create', '--name=shop', '--policy=policy.yaml']);
  await runHere(['keys', 'create', '--name=other', '--policy=policy.yaml']);
  const store = new DatabaseSync(join(folder, 'proxy.db'));
  store.prepare('UPDATE client_keys SET policy = ? WHERE id = ?').run('{"models":{},"sees":"all"}', id);
  store.close();

  const listed = (await runHere(['keys', 'list'])).stdout.split('\n').find((line) => line.includes(id));
  expect(listed).toContain('unreadable');
  const shown = await runHere(['keys', 'show', id]);
  expect(shown.stdout).toMatch(/^policy {8}unreadable: .*sees: is not known/m);
  const exported = await runHere(['config', 'export', '--json']);
  expect(JSON.parse(exported.stdout).keys.map(({ name }: { name: string }) => name)).toEqual(['other']);
  expect(exported.stderr).toMatch(
    new RegExp(`Left out: the policy of key "shop" \\(${id}\\) is unreadable \\(.*sees: is not known.*\\)`),
  );

  put('proxy.yaml', 'keys:\n  - name: shop\n    policy: null\n');
  for (const flags of [['--dry-run'], []]) {
    const applied = await runHere(['apply', '-f', 'proxy.yaml', ...flags]);
    expect(applied.status).toBe(0);
    expect(applied.stdout).toMatch(/policy: "unreadable: .*sees: is not known.*" → null/);
    expect(applied.stderr).toMatch(
      new RegExp(`key shop \\(${id}\\): its stored policy is unreadable: .*sees.* will replace it\\.\\n`),
    );
  }
  const again = await runHere(['apply', '-f', 'proxy.yaml']);
  expect(again.stdout).toContain('Nothing to change.');
});

test('an apply that fails midway reports its progress, and can be run again', async () => {
  put(
    'proxy.yaml',
    `keys: [{ name: shop, policy: null }]
instances:
  - { name: one, concurrency: 2 }
  - { name: two, url: "https://two.example", db: two, user_id: 2, api_key: { env: ODOO_KEY } }
`,
  );
  const env = { ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY, ODOO_KEY: SECRET };
  put('policy.yaml', POLICY);
  await runHere(['keys', 'create', '--name=shop', '--policy=policy.yaml'], env);
  put('key', SECRET);
  const add = ['instances', 'add', 'one', '--erp-url=https://one.example', '--db=one', '--user-id=2'];
  expect((await runHere([...add, '--api-key-file=key'], env)).status).toBe(0);

  const wrong = { ...env, ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') };
  const failed = await runHere(['apply', '-f', 'proxy.yaml', '--json'], wrong);
  expect(failed.status).toBe(1);
  expect(JSON.parse(failed.stdout).steps.map(({ state }: { state: string }) => state)).toEqual([
    'failed',
    'skipped',
    'skipped',
  ]);
  expect(failed.stderr).toMatch(
    /^Failed: instance one\. Done: nothing\. Not done: instance two, key shop \(\w+\)\.\n.*master key/,
  );
  const again = await runHere(['apply', '-f', 'proxy.yaml', '--json'], env);
  expect(JSON.parse(again.stdout).steps.map(({ state }: { state: string }) => state)).toEqual([
    'done',
    'done',
    'done',
  ]);
});

describe('a remote command', () => {
  test.each([
    ['http://proxy.example', TOKEN, /unencrypted; use https/, 2],
    ['ftp://proxy.example', TOKEN, /not the address of a proxy/, 2],
    ['https://user:hidden@proxy.example', TOKEN, /user name or password/, 2],
    ['http://127.0.0.1:1', '', /admin\.token/, 2],
    ['http://127.0.0.1:1', null, /^There is no token for that proxy/, 2],
    ['http://127.0.0.1:1', TOKEN, /No answer from http:\/\/127\.0\.0\.1:1 /, 1],
  ])('to %s with the token %j explains the error', async (url, token, says, status) => {
    const env: Record<string, string> = token === null ? {} : { ERP_PROXY_ADMIN_TOKEN: token };
    const ran = await runHere(['keys', 'list', '--url', url], env);
    expect(ran).toEqual({ status, stdout: '', stderr: expect.stringMatching(says) });
    expect(ran.stderr).not.toMatch(new RegExp(`${TOKEN}|hidden`));
  });

  test('reports a wrong token, a disabled admin API, and a server that is not a proxy', async () => {
    const proxy = await startProxy({ settings: { 'admin.token': TOKEN } });
    const without = await startProxy();
    const sandbox = await startSandbox({ version: 18 });
    const list = (url: string, token = TOKEN) =>
      runHere(['keys', 'list', '--url', url], { ERP_PROXY_ADMIN_TOKEN: token });
    try {
      const wrong = await list(proxy.url, `${TOKEN}!`);
      expect(wrong).toMatchObject({ status: 1, stdout: '' });
      expect(wrong.stderr).toMatch(/token/);
      expect(wrong.stderr).not.toContain(TOKEN);
      expect(await list(without.url)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/admin API is off/),
      });
      expect(await list(sandbox.url)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/check --url/),
      });
    } finally {
      await Promise.all([proxy.close(), without.close(), sandbox.close()]);
    }
  });
});

describe('a remote server that is not this proxy, or sends false answers', () => {
  const JSON_TYPE = 'application/json';
  test.each([
    ['keys list', 200, JSON_TYPE, '{not json'],
    ['keys list', 200, JSON_TYPE, '{"items":null,"next":null}'],
    ['keys list', 200, JSON_TYPE, '{"items":[{"id":"a"}],"next":null}'],
    ['keys list', 200, JSON_TYPE, '['.repeat(100_000) + ']'.repeat(100_000)],
    ['keys list', 404, 'application/problem+json', 'null'],
    ['instances show a', 200, JSON_TYPE, '{"name":"a"}'],
    ['audit list', 200, JSON_TYPE, '{"items":[{"kind":"admin"}],"next":null}'],
    ['audit verify', 200, JSON_TYPE, 'null'],
    ['audit export', 200, JSON_TYPE, '{"seq":1}\n{'],
    ['audit export', 200, JSON_TYPE, '{"seq":1}\n{\n'],
  ])('%s: an answer of another shape gives one line of error', async (command, status, type, body) => {
    const remote = createServer((_, answer) => answer.writeHead(status, { 'content-type': type }).end(body));
    await once(remote.listen(0, '127.0.0.1'), 'listening');
    const { port } = remote.address() as AddressInfo;
    const args = [...command.split(' '), '--url', `http://127.0.0.1:${port}`];
    const ran = await runHere(args, { ERP_PROXY_ADMIN_TOKEN: TOKEN });
    remote.close();
    expect(ran).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^http.*(check --url|not all)\.\n$/),
    });
  });

  test.each([200, 404])(
    'control characters in its answer do not reach the terminal (HTTP %i)',
    async (status) => {
      const text = '\u001b]0;owned\u0007\u009b31m\u007f a\rb';
      const body =
        status === 200
          ? { items: [{ id: 'a', name: text, state: 'active', policy: { [text]: [text] } }], next: null }
          : { status, detail: text };
      const type = status === 200 ? 'application/json' : 'application/problem+json';
      const remote = createServer((_, answer) =>
        answer.writeHead(status, { 'content-type': type }).end(JSON.stringify(body)),
      );
      await once(remote.listen(0, '127.0.0.1'), 'listening');
      const { port } = remote.address() as AddressInfo;
      for (const more of [[], ['--json']]) {
        const args = ['keys', 'list', '--url', `http://127.0.0.1:${port}`, ...more];
        const { stdout, stderr } = await runHere(args, { ERP_PROXY_ADMIN_TOKEN: TOKEN });
        expect(stdout + stderr).toContain(']0;owned31m ab');
        expect((stdout + stderr).replaceAll(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
      }
      remote.close();
    },
  );
});

describe('a store of an earlier version is upgraded, and a warning says so:', () => {
  const WARNING = {
    level: 'warn',
    msg: 'store upgraded',
    from: 1,
    advice: expect.stringMatching(/do not start/),
  };

  test('by a command', async () => {
    createFileOfVersion1(join(folder, 'proxy.db'));
    const args = ['keys', 'list', '--store.url', `sqlite:${join(folder, 'proxy.db')}`];
    const { stdout, stderr } = await runHere(args);
    expect(stdout).toMatch(/^a\trevoked\t/);
    expect(JSON.parse(stderr)).toMatchObject(WARNING);
    expect((await runHere(args)).stderr).toBe('');
  });

  test('by the start of the proxy', async () => {
    createFileOfVersion1(join(folder, 'proxy.db'));
    const settings = { 'store.url': `sqlite:${join(folder, 'proxy.db')}` };
    const { log } = closeAfterTest(await startProxy({ settings }));
    expect(log).toContainEqual(expect.objectContaining({ ...WARNING, level: expect.anything() }));
  });

  test('by a copy', async () => {
    createFileOfVersion1(join(folder, 'proxy.db'));
    const { status, stderr } = await runHere(
      ['store', 'copy', '--from', 'sqlite:proxy.db', '--to', 'sqlite:copy.db'].map((arg) =>
        arg.replace('sqlite:', `sqlite:${folder}/`),
      ),
    );
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(
        /proxy\.db was brought from version 1 to \d+\. Earlier versions .* do not start/,
      ),
    });
  });
});

describe('a proxy of an older version', () => {
  const NO_ROUTE = { status: 404, title: 'Not Found', detail: 'There is no such route; see /openapi.json.' };
  const NO_TAG = { status: 400, detail: '`if-match` takes one unchanged `etag` of an answer, or `*`.' };

  /**
   * Starts a server in front of the proxy that answers like an older version: it has no subscriptions, and its tags are
   * the number of the version.
   */
  async function startOlder() {
    const proxy = closeAfterTest(
      await startProxy({ settings: { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY } }),
    );
    const older = createServer(async (request, reply) => {
      const { method = 'GET', url = '', headers } = request;
      const chunks: Buffer[] = await Array.fromAsync(request);
      const tag = headers['if-match'];
      const problem = url.includes('/subscriptions') ? NO_ROUTE : tag && !/^"\d+"$/.test(tag) ? NO_TAG : null;
      const answer =
        problem === null
          ? await fetch(`${proxy.url}${url}`, {
              method,
              headers: {
                authorization: headers.authorization ?? '',
                ...(tag && { 'if-match': tag }),
                ...(chunks.length > 0 && { 'content-type': 'application/json' }),
              },
              ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
            })
          : Response.json(problem, {
              status: problem.status,
              headers: { 'content-type': 'application/problem+json' },
            });
      reply.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      reply.end(Buffer.from(await answer.arrayBuffer()));
    });
    await once(older.listen(0, '127.0.0.1'), 'listening');
    closeAfterTest({ close: async () => void older.close() });
    return `http://127.0.0.1:${(older.address() as AddressInfo).port}`;
  }

  test('is changed by apply', async () => {
    const url = await startOlder();
    const run = (...args: string[]) => runHere([...args, '--url', url], { ERP_PROXY_ADMIN_TOKEN: TOKEN });
    await run('keys', 'create', '--name', 'shop');
    put(
      'proxy.yaml',
      'keys: [{ name: shop, policy: { origins: [https://a.example], models: { a: [read] } } }]\n',
    );
    expect(await run('apply', '-f', 'proxy.yaml')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('~ key shop'),
    });
    const { stdout } = await run('keys', 'list', '--json');
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        name: 'shop',
        version: 2,
        policy: expect.objectContaining({ models: { a: ['read'] } }),
      }),
    );
  });

  test('that lacks a route: the error says so', async () => {
    const url = await startOlder();
    expect(
      await runHere(['subscriptions', 'list', '--url', url], { ERP_PROXY_ADMIN_TOKEN: TOKEN }),
    ).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The proxy does not know this request: it has another version .*\.\n$/),
    });
  });
});

describe('an error names the options of the command:', () => {
  const env = { ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY };
  test.each<[words: string, says: RegExp]>([
    ['keys create --name=a --expires-in 0m', /^The time at which the key expires is not in the future: /],
    ['keys rotate ID --overlap 60d', /^The old key can go on working for 30 days at most\./],
    ['audit list --since 2026-02-30', /^since is a day or a time /],
    ['instances add a --erp-url nope --db a --user-id 2 --api-key-file key', /^ {2}--erp-url: is not a URL/m],
    [
      'instances add a --erp-url https://a --db a --user-id 0 --api-key-file key --timeout-ms 0',
      /^ {2}--user-id: must be .*\n {2}--timeout-ms: must be .*, or none$/m,
    ],
    [
      'instances update prod --erp-url https://b.example',
      /^ {2}--erp-url: .*give `--api-key-file` with it$/m,
    ],
    ['instances add a!b --erp-url https://a --db a --user-id 2 --api-key-file key', /^ {2}<name>: must be /m],
  ])('%s', async (words, says) => {
    put('key', SECRET);
    const add = 'instances add prod --erp-url https://a.example --db a --user-id 2 --api-key-file key';
    expect((await runHere(add.split(' '), env)).status).toBe(0);
    const { id } = JSON.parse((await runHere(['keys', 'create', '--name=shop', '--json'])).stdout);
    const ran = await runHere(words.replace('ID', id).split(' '), env);
    expect(ran).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(says) });
    expect(ran.stderr).not.toMatch(/expiresAt|overlap_seconds|user_id|api_key|timeout_ms|\bnull\b/);
  });
});

describe('a command on the store', () => {
  const storeFile = () => join(folder, 'proxy.db');
  const MISSING = /^There is no store sqlite \S+proxy\.db yet\. .*store\.url.*\n$/;

  test.each([
    'keys list',
    'keys show a',
    'keys update a --name=b',
    'keys revoke a',
    'keys rotate a',
    'keys explain --key a --call call.json',
    'instances list',
    'instances show a',
    'instances remove a',
    'audit list',
    'audit export',
    'audit verify',
    'config export',
    'vault reseal',
  ])('%s does not create a missing store, and reports it', async (words) => {
    put('call.json', call());
    const ran = await runHere(words.split(' '));
    expect(ran).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(MISSING) });
    expect(existsSync(storeFile())).toBe(false);
    put('proxy.db', '');
    expect((await runHere(words.split(' '))).stderr).toMatch(MISSING);
    expect(statSync(storeFile()).size).toBe(0);
  });

  test('apply --dry-run does not create a store either, and plans as for an empty one', async () => {
    put('proxy.yaml', 'keys: [{ name: shop, policy: null }]\n');
    const dry = await runHere(['apply', '-f', 'proxy.yaml', '--create-keys', '--dry-run']);
    expect(dry).toMatchObject({ status: 0, stdout: expect.stringContaining('1 to add') });
    expect(dry.stderr).toMatch(/^There is no store sqlite \S+proxy\.db yet: it counts as empty\.\n$/);
    expect(existsSync(storeFile())).toBe(false);
  });

  test('prints the store that it works on to standard error only', async () => {
    const line = new RegExp(`^Store: sqlite ${storeFile()}\n`);
    put('key', SECRET);
    put('proxy.yaml', 'keys: [{ name: shop, policy: null }]\n');
    put('policy.yaml', POLICY);
    const made = await runHere(['keys', 'create', '--name=shop', '--json'], {}, null, 'whole');
    expect(made.stderr).toMatch(line);
    const { id } = JSON.parse(made.stdout);
    for (const words of [
      'keys list',
      `keys show ${id}`,
      `keys update ${id} --name=b`,
      `keys rotate ${id}`,
      `keys revoke ${id}`,
      'instances list',
      'audit list',
      'audit export',
      'audit verify',
      'config export',
      'apply -f proxy.yaml --create-keys',
      'apply -f proxy.yaml --dry-run',
    ]) {
      const { status, stdout, stderr } = await runHere(words.split(' '), {}, null, 'whole');
      expect({ status, stderr }, words).toEqual({ status: 0, stderr: expect.stringMatching(line) });
      expect(stdout).not.toContain('Store:');
    }
    const migrated = await runHere(['migrate'], {}, null, 'whole');
    expect(migrated.stdout + migrated.stderr).toContain(storeFile());
  });

  const env = { ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY };
  const add = (url: string, ...more: string[]) =>
    runHere(
      ['instances', 'add', 'demo', '--erp-url', url, '--db=a', '--user-id=2', '--api-key-file=key', ...more],
      env,
    );

  test('stores an instance that the local settings forbid, with a warning', async () => {
    put('key', SECRET);
    expect(await add('http://127.0.0.1:1')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^Warning: .*egress\.allow.*--allow-private\)\.\n$/),
    });
    expect((await runHere(['instances', 'remove', 'demo'], env)).status).toBe(0);
    expect(await add('http://127.0.0.1:1', '--allow-private')).toMatchObject({ status: 0, stderr: '' });
  });

  test('that fails to replace a key names the settings that it used, and stores nothing of that', async () => {
    put('key', SECRET);
    await add('http://127.0.0.1:1');
    const { status, stderr } = await runHere(['instances', 'rotate-key', 'demo'], env);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/egress settings of this shell.*--url/),
    });
    const { stdout } = await runHere(['instances', 'show', 'demo', '--json'], env);
    expect(JSON.parse(stdout).key.failure).toBeNull();
  });
});

describe('the real program', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ version: 18 });
  });
  afterAll(() => sandbox.close());

  test('applies a file to a running proxy; its key can then call the instance by name, and nothing else', async () => {
    const { apiKey } = sandbox.users.admin;
    const masterKey = await runProgram(['vault', 'key'], { folder });
    expect(masterKey.stdout).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    const server = await startServer([], {
      folder,
      env: {
        ERP_PROXY_ADMIN_TOKEN: TOKEN,
        ERP_PROXY_VAULT_MASTER_KEY: masterKey.stdout.trim(),
        ERP_PROXY_UPSTREAM_PROTOCOL: 'jsonrpc',
      },
    });
    put(
      'proxy.yaml',
      `keys: [{ name: shop, policy: { instances: [prod], models: { res.partner: ["search*"] } } }]
instances:
  - { name: prod, url: "${sandbox.url}", db: ${sandbox.db}, user_id: 2, allow_private: true, api_key: { env: ODOO_KEY } }
`,
    );
    const env = { ERP_PROXY_ADMIN_TOKEN: TOKEN, ODOO_KEY: apiKey };
    const applied = await runProgram(
      ['apply', '-f', 'proxy.yaml', '--create-keys', '--json', '--url', server.url],
      { folder, env },
    );
    expect(applied).toMatchObject({ status: 0, stderr: '' });
    const [{ key }] = JSON.parse(applied.stdout).created_keys;
    put('call.json', call());
    put('write.json', call({ action: 'write', params: [[1], { name: 'x' }] }));
    const [allowed, denied] = await Promise.all(
      ['call.json', 'write.json'].map((file) =>
        runProgram(['call', file, '--url', server.url, '--key', key], { folder }),
      ),
    );
    expect(JSON.parse(String(allowed?.stdout)).result.length).toBeGreaterThan(0);
    expect(JSON.parse(String(denied?.stdout)).error.data.type).toBe('policy_denied');

    const exported = await runProgram(['config', 'export', '-o', 'out.yaml', '--url', server.url], {
      folder,
      env,
    });
    expect(exported).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(folder, 'out.yaml'), 'utf8')).toContain(sandbox.url);

    // With `ulimit -f 0`, the program can write no byte to a file, as on a full disk.
    const words = [process.execPath, ENTRY, 'config', 'export', '-o', 'out.yaml', '--url', server.url];
    const before = readFileSync(join(folder, 'out.yaml'), 'utf8');
    const full = await startShell(`ulimit -f 0; exec ${words.join(' ')}`, { folder, env }).ended;
    expect(full).toMatchObject({ status: 1, stderr: 'out.yaml: the file cannot be written (EFBIG)\n' });
    expect(readFileSync(join(folder, 'out.yaml'), 'utf8')).toBe(before);
    expect(readdirSync(folder).filter((name) => name.includes('out.yaml'))).toEqual(['out.yaml']);
    const printed = [applied, allowed, denied, exported].map((ran) => `${ran?.stdout}${ran?.stderr}`).join();
    expect(printed + server.stdout + readFileSync(join(folder, 'out.yaml'))).not.toContain(apiKey);
  });
});
