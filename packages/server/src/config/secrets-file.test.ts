import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSettings } from './load.ts';
import { printSettings } from './print.ts';
import { createSecretsFile, locateSecretsFile, readSecretsFile } from './secrets-file.ts';

const TOKEN = 'a-token-of-more-than-thirty-two-characters';
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const SECRETS = { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-secrets-'));
  path = join(folder, 'secrets.yaml');
});
afterEach(() => rmSync(folder, { recursive: true }));

function load({ yaml = '', env = {}, argv = [] }: { yaml?: string; env?: object; argv?: string[] } = {}) {
  return loadSettings({
    argv: [`--store.url=sqlite:${join(folder, 'proxy.db')}`, ...argv],
    env: { ...env },
    cwd: folder,
    readFile: () => {
      if (yaml !== '') return yaml;
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    },
    readSecrets: readSecretsFile,
  });
}

/** The errors of the file, each without the file's name. */
function listErrors(): string[] {
  const loaded = load();
  if (loaded.ok) throw new Error('the settings were accepted');
  return loaded.errors.map(({ source, message }) => `${source}: ${message}`.replace(path, 'secrets.yaml'));
}

test.each([
  ['sqlite:./data/erp-proxy.db', 'data/secrets.yaml'],
  ['sqlite:erp-proxy.db', 'secrets.yaml'],
  ['sqlite:/srv/proxy/erp.db', '/srv/proxy/secrets.yaml'],
  ['sqlite:///srv/proxy/erp.db', '/srv/proxy/secrets.yaml'],
  ['sqlite://host/erp.db', null],
  ['memory:', null],
  ['postgres://user@host/database', null],
])('the file of %s is %s', (url, expected) => {
  expect(locateSecretsFile(url)).toBe(expected);
});

test('is written with mode 600, and read again', () => {
  expect(createSecretsFile(path, SECRETS)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['secrets.yaml']);
  const loaded = load();
  expect(loaded).toMatchObject({
    ok: true,
    settings: { admin: { token: TOKEN }, vault: { masterKey: MASTER_KEY } },
  });
});

test('is left as it is if it exists', () => {
  createSecretsFile(path, SECRETS);
  const before = readFileSync(path, 'utf8');
  expect(createSecretsFile(path, { 'admin.token': 'x'.repeat(40) })).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(readdirSync(folder)).toEqual(['secrets.yaml']);
});

test('a failure to write leaves nothing behind', () => {
  mkdirSync(join(folder, 'gone'));
  const lost = join(folder, 'gone', 'x'.repeat(300));
  expect(() => createSecretsFile(lost, SECRETS)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }));
  expect(readdirSync(join(folder, 'gone'))).toEqual([]);
});

test('stands above the defaults, and below erp-proxy.yaml, the environment and flags', () => {
  createSecretsFile(path, SECRETS);
  const token = (name: string) => `${name}-${'x'.repeat(32)}`;
  const read = (given: Parameters<typeof load>[0]) => {
    const loaded = load(given);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    return [loaded.settings.admin.token, loaded.sources.get('admin.token'), loaded.settings.vault.masterKey];
  };
  const yaml = `admin:\n  token: ${token('yaml')}\n`;
  const env = { ERP_PROXY_ADMIN_TOKEN: token('env') };
  const argv = [`--admin.token=${token('flag')}`];
  expect(read({})).toEqual([TOKEN, `${path}:4`, MASTER_KEY]);
  expect(read({ yaml })).toEqual([token('yaml'), 'erp-proxy.yaml:2', MASTER_KEY]);
  expect(read({ yaml, env })).toEqual([token('env'), 'ERP_PROXY_ADMIN_TOKEN', MASTER_KEY]);
  expect(read({ yaml, env, argv })).toEqual([token('flag'), '--admin.token', MASTER_KEY]);
});

test('is the source that `config print` names, with masked values', () => {
  createSecretsFile(path, SECRETS);
  const loaded = load();
  if (!loaded.ok) throw new Error();
  const printed = printSettings(loaded.settings, loaded.sources, 'text');
  expect(printed).toMatch(new RegExp(`^admin\\.token = "\\*\\*\\*" +# ${path}:4$`, 'm'));
  expect(printed).not.toContain(TOKEN);
  expect(printed).not.toContain(MASTER_KEY);
});

test('belongs to the store that the settings name', () => {
  createSecretsFile(path, SECRETS);
  const loaded = load({ argv: [] });
  expect(loaded).toMatchObject({ ok: true, secretsFile: path });
  const elsewhere = loadSettings({
    argv: [],
    env: {},
    cwd: folder,
    readFile: () => `store:\n  url: sqlite:other/proxy.db\n`,
    readSecrets: readSecretsFile,
  });
  expect(elsewhere).toMatchObject({ ok: true, secretsFile: 'other/secrets.yaml' });
  expect(elsewhere).toMatchObject({ settings: { admin: { token: null } } });
});

describe('a file that must not be used is refused, with what to do', () => {
  test.each([0o640, 0o604, 0o620, 0o644])('mode %o', (mode) => {
    createSecretsFile(path, SECRETS);
    chmodSync(path, mode);
    expect(listErrors()).toEqual([
      'secrets.yaml: other users may read or change the file; run chmod 600 on it, and replace its secrets if others know them',
    ]);
  });

  test.runIf(process.getuid?.() === 0)('the file of another user', () => {
    createSecretsFile(path, SECRETS);
    chownSync(path, 65_534, 65_534);
    expect(listErrors()).toEqual([
      'secrets.yaml: the file belongs to another user; run the command as the user of the proxy, or change its owner with chown',
    ]);
  });

  test('a symbolic link, also one that leads nowhere', () => {
    symlinkSync(join(folder, 'target.yaml'), path);
    const expected = ['secrets.yaml: this is a symbolic link; put the file itself here'];
    expect(listErrors()).toEqual(expected);
    createSecretsFile(join(folder, 'target.yaml'), SECRETS);
    expect(listErrors()).toEqual(expected);
  });

  test('a folder', () => {
    mkdirSync(path, { mode: 0o700 });
    expect(listErrors()).toEqual(['secrets.yaml: this is no regular file; remove it']);
  });

  test.each([
    ['broken YAML', 'admin:\n  token: "unfinished\n', /^secrets\.yaml:\d: this is not valid YAML/],
    ['an empty file', '', /^secrets\.yaml:1: the file is empty/],
    [
      'an unknown name',
      'admin:\n  tokn: x\n',
      /^secrets\.yaml:2: there is no such setting; the nearest is admin\.token/,
    ],
    [
      'another setting',
      'http:\n  port: 1\n',
      /^secrets\.yaml:2: this file has only admin\.token and vault\.masterKey; move http\.port to erp-proxy\.yaml/,
    ],
    [
      'a short token',
      `admin:\n  token: ${'SECRET'}\n`,
      /^secrets\.yaml:2: admin\.token must be a text of at least 32 characters$/,
    ],
  ])('%s', (_, text, expected) => {
    writeFileSync(path, text, { mode: 0o600 });
    const errors = listErrors();
    expect(errors).toEqual([expect.stringMatching(expected)]);
    expect(errors.join()).not.toContain('SECRET');
  });
});
