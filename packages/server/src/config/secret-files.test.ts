import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../test/close-after-test.ts';
import { makeSettings } from '../../test/harness.ts';
import type { SettingName } from './schema.ts';
import { listSecretFiles, type Taker, watchSecretFiles } from './secret-files.ts';

const OLD = 'old-token-'.repeat(4);
const NEW = 'new-token-'.repeat(4);

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-secrets-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
  return folder;
}

function watch(path: string, { name = 'admin.token', take = async () => {} }: Partial<Watched> = {}) {
  const taken: unknown[] = [];
  const problems: string[] = [];
  const files = watchSecretFiles({
    files: [{ name, path }],
    settings: makeSettings({ 'admin.token': OLD }),
    takers: [{ names: ['admin.token'], take }],
    onTaken: (_, settings) => taken.push(settings.admin.token),
    onProblem: (_, problem) => problems.push(problem),
    onError: (error) => {
      throw error;
    },
  });
  return { files, taken, problems };
}

interface Watched {
  name: SettingName;
  take: Taker['take'];
}

test('takes a new value over when two readings have found it', async () => {
  const path = join(makeFolder(), 'token');
  writeFileSync(path, `${OLD}\n`);
  const { files, taken, problems } = watch(path);
  await files.check();
  await files.check();
  writeFileSync(path, `${NEW}\n`);
  await files.check();
  expect(taken).toEqual([]);
  await files.check();
  await files.check();
  expect(taken).toEqual([NEW]);
  expect(problems).toEqual([]);
});

test('follows a folder that is replaced by a symbolic link, as Kubernetes does', async () => {
  const folder = makeFolder();
  for (const [version, value] of [
    ['..1', OLD],
    ['..2', NEW],
  ] as const) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'token'), value);
  }
  symlinkSync('..1', join(folder, '..data'));
  symlinkSync('..data/token', join(folder, 'token'));
  const { files, taken } = watch(join(folder, 'token'));
  await files.check();
  symlinkSync('..2', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  rmSync(join(folder, '..1'), { recursive: true });
  await files.check();
  await files.check();
  expect(taken).toEqual([NEW]);
});

test('follows a file that is renamed over the old one, as agents do', async () => {
  const folder = makeFolder();
  const path = join(folder, 'token');
  writeFileSync(path, OLD);
  const { files, taken } = watch(path);
  await files.check();
  writeFileSync(`${path}.new`, NEW);
  renameSync(`${path}.new`, path);
  await files.check();
  await files.check();
  expect(taken).toEqual([NEW]);
});

test('does not take over a file that is written in pieces', async () => {
  const path = join(makeFolder(), 'token');
  const { files, taken } = watch(path);
  // Each piece is a valid token.
  for (const length of [33, 36, 39, 40, 40]) {
    writeFileSync(path, NEW.slice(0, length));
    await files.check();
  }
  expect(taken).toEqual([NEW]);
});

test.each([
  ['empty', '', 'the file is empty'],
  ['blank', ' \n', 'the file is empty'],
  ['too short', 'short', 'admin.token must be a text of at least 32 characters'],
  ['not text', Buffer.from([0xff, 0xfe]), 'the file is not UTF-8; save it in this encoding'],
  ['too long', 'x'.repeat(65 * 1024), 'the file is larger than 64 KiB'],
])('keeps the old value if the file is %s, and says so once', async (_, content, problem) => {
  const path = join(makeFolder(), 'token');
  writeFileSync(path, content);
  const { files, taken, problems } = watch(path);
  for (let round = 0; round < 3; round++) await files.check();
  expect(taken).toEqual([]);
  expect(problems).toEqual([problem]);
  expect([...files.problems]).toEqual([['admin.token', problem]]);
  writeFileSync(path, OLD);
  await files.check();
  expect(files.problems.size).toBe(0);
  writeFileSync(path, NEW);
  await files.check();
  await files.check();
  expect(taken).toEqual([NEW]);
});

test('keeps the old value while the file is missing', async () => {
  const path = join(makeFolder(), 'token');
  const { files, taken, problems } = watch(path);
  await files.check();
  expect([taken, problems]).toEqual([[], ['there is no such file']]);
});

test.skipIf(process.getuid?.() === 0)('keeps the old value while the file cannot be read', async () => {
  const path = join(makeFolder(), 'token');
  writeFileSync(path, NEW);
  chmodSync(path, 0);
  const { files, taken, problems } = watch(path);
  await files.check();
  expect([taken, problems]).toEqual([[], ['the file cannot be read (EACCES)']]);
});

test('leaves a pipe alone, which can be read only once', async () => {
  const path = join(makeFolder(), 'token');
  execFileSync('mkfifo', [path]);
  const { files, taken, problems } = watch(path);
  await files.check();
  expect([taken, problems]).toEqual([[], []]);
});

test('tries a value that was refused again, and reports each reason once', async () => {
  const path = join(makeFolder(), 'token');
  writeFileSync(path, NEW);
  let refusal: string | null = 'the server does not accept it';
  const { files, taken, problems } = watch(path, {
    take: async () => {
      if (refusal !== null) throw new Error(refusal);
    },
  });
  for (let round = 0; round < 4; round++) await files.check();
  expect(problems).toEqual(['the server does not accept it']);
  refusal = null;
  await files.check();
  expect([taken, files.problems.size]).toEqual([[NEW], 0]);
});

test('says that a restart is needed for a setting that nothing takes over', async () => {
  const path = join(makeFolder(), 'secret');
  writeFileSync(path, NEW);
  const { files, taken, problems } = watch(path, { name: 'keys.hashSecret' });
  for (let round = 0; round < 3; round++) await files.check();
  expect(taken).toEqual([]);
  expect(problems).toEqual(['the file has another value, which takes effect after a restart']);
});

test('lists the settings whose value came from a file', () => {
  const env = { ERP_PROXY_ADMIN_TOKEN_FILE: 'token', ERP_PROXY_KEYS_HASH_SECRET_FILE: '/run/secret' };
  const sources = new Map<SettingName, string>([
    ['admin.token', 'ERP_PROXY_ADMIN_TOKEN_FILE'],
    ['keys.hashSecret', '--keys.hashSecret'],
    ['http.port', 'default'],
  ]);
  expect(listSecretFiles({ sources }, env, '/srv')).toEqual([{ name: 'admin.token', path: '/srv/token' }]);
});
