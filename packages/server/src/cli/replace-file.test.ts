import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { chmod, lstat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-replace-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

test('creates a file with the permissions of any new file, and leaves no other', async () => {
  await replaceFile(join(folder, 'out.yaml'), 'new');
  writeFileSync(join(folder, 'usual'), '');
  expect(read('out.yaml')).toBe('new');
  expect(statSync(join(folder, 'out.yaml')).mode).toBe(statSync(join(folder, 'usual')).mode);
  expect(readdirSync(folder)).toEqual(['out.yaml', 'usual']);
});

test('puts a new file in the place of the earlier one, with its permissions', async () => {
  writeFileSync(join(folder, 'out.yaml'), 'a longer text');
  await chmod(join(folder, 'out.yaml'), 0o626);
  const before = statSync(join(folder, 'out.yaml'));
  await replaceFile(join(folder, 'out.yaml'), 'new');
  const after = statSync(join(folder, 'out.yaml'));
  expect(read('out.yaml')).toBe('new');
  expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
  expect(after.ino).not.toBe(before.ino);
  expect(readdirSync(folder)).toEqual(['out.yaml']);
});

test('follows a symbolic link, also to a file that is yet to be made', async () => {
  for (const text of ['first', 'second']) {
    if (text === 'first') symlinkSync('target.yaml', join(folder, 'link.yaml'));
    await replaceFile(join(folder, 'link.yaml'), text);
    expect(read('target.yaml')).toBe(text);
    expect((await lstat(join(folder, 'link.yaml'))).isSymbolicLink()).toBe(true);
  }
});

test('writes to a device, and takes a name as long as a file may have', async () => {
  await replaceFile('/dev/null', 'text');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  const name = `${'ü'.repeat(125)}.yaml`;
  await replaceFile(join(folder, name), 'text');
  expect(read(name)).toBe('text');
});

test('rejects as writeFile does if there is no folder, and leaves nothing', async () => {
  await expect(replaceFile(join(folder, 'no/out.yaml'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(replaceFile(folder, 'x')).rejects.toMatchObject({ code: 'EISDIR' });
  expect(readdirSync(folder)).toEqual([]);
});

test('removes what a killed process has left beside the file, and nothing else', async () => {
  const id = '0b3f7a52-6f0e-4b6e-9f0a-2f6d1c9e8a77';
  const others = [`.other.yaml.${id}`, '.out.yaml.swp', `.out.yaml.${id.replace('0', '1')}`];
  const left = `.out.yaml.${id}`;
  for (const name of [left, ...others]) writeFileSync(join(folder, name), 'draft');
  const earlier = new Date(Date.now() - 3_600_000);
  // All are old except the last one, which another process is still writing.
  for (const name of [left, ...others.slice(0, 2)]) utimesSync(join(folder, name), earlier, earlier);
  await replaceFile(join(folder, 'out.yaml'), 'new');
  expect(readdirSync(folder).sort()).toEqual([...others, 'out.yaml'].sort());
});
