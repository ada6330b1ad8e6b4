import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareFile } from './database.ts';
import { describeFailure } from './failures.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-file-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('refuses a directory without write permission', () => {
  chmodSync(directory, 0o555);
  expect(asUserWithoutRights(() => refusal(join(directory, 'store.db')))).toMatch(
    /may not write the file or its directory/,
  );
});

test('refuses a directory that cannot be created, and does not hang', () => {
  expect(refusal('/proc/erp-proxy-test/deeper/store.db')).toMatch(/its directory cannot be made there/);
});

test.each([
  ['a device', '/dev/null', /not a file/],
  ['a path that is too long', `/tmp/${'a'.repeat(300)}/store.db`, /path is too long/],
])('refuses %s', (_, path, message) => {
  expect(refusal(path)).toMatch(message);
});

test('refuses a named pipe, and does not wait for a writer', () => {
  const pipe = join(directory, 'pipe');
  execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', pipe]);
  expect(refusal(pipe)).toMatch(/not a file/);
});

test('refuses a path with a loop of symbolic links', () => {
  symlinkSync('loop', join(directory, 'loop'));
  expect(refusal(join(directory, 'loop', 'store.db'))).toMatch(/symbolic links/);
});

test('does not change an existing file', () => {
  const file = join(directory, 'one', 'store.db');
  mkdirSync(join(directory, 'one'), { mode: 0o755 });
  prepareFile(file);
  const { ino, mode } = statSync(file);
  expect((mode & 0o777).toString(8)).toBe('600');
  chmodSync(file, 0o640);
  prepareFile(file);
  expect(statSync(file)).toMatchObject({ ino, size: 0 });
  expect((statSync(file).mode & 0o777).toString(8)).toBe('640');
});

function refusal(file: string): string | null {
  try {
    prepareFile(file);
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}

/** Runs `run` as another user if the test runs as root, who may write everywhere. */
function asUserWithoutRights<Result>(run: () => Result): Result {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
