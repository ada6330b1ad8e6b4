/** Tests the folder of the compile cache: code that another user could put there would be run. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, runProgram } from './program.ts';

const NAME = `erp-proxy-compile-cache-${process.getuid?.()}`;

/** Runs a command with this folder for temporary files. */
async function run(temporary: string, env: Record<string, string> = {}): Promise<void> {
  const options = { folder: makeFolder(), env: { TMPDIR: temporary, ...env } };
  expect((await runProgram(['config', 'print'], options)).status).toBe(0);
}

test('is made for the user alone, and filled', async () => {
  const temporary = makeFolder();
  await run(temporary);
  expect(readdirSync(temporary)).toEqual([NAME]);
  const folder = join(temporary, NAME);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).not.toEqual([]);
});

test('is not used if others can write to it', async () => {
  const temporary = makeFolder();
  const folder = join(temporary, NAME);
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  await run(temporary);
  expect(readdirSync(folder)).toEqual([]);
  expect(readdirSync(temporary)).toEqual([NAME]);
});

test('is not used if it is a link', async () => {
  const [temporary, other] = [makeFolder(), makeFolder()];
  symlinkSync(other, join(temporary, NAME));
  await run(temporary);
  expect(readdirSync(other)).toEqual([]);
});

test('is another one if NODE_COMPILE_CACHE names it', async () => {
  const [temporary, given] = [makeFolder(), makeFolder()];
  await run(temporary, { NODE_COMPILE_CACHE: given });
  expect(readdirSync(given)).not.toEqual([]);
  expect(existsSync(join(temporary, NAME))).toBe(false);
});
