/** Runs the commands of docs/backup.md in their order. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { beforeEach, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { readText } from './deploy-files.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const commands = [...readText('docs/backup.md').matchAll(/^erp-proxy (.+)$/gm)].map(([, text = '']) => text);
const toPostgres = commands.filter((command) => command.includes('--to-file'));
const onFiles = commands.filter((command) => !toPostgres.includes(command));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-backup-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
});

/** Paths of the page are relative to the folder of the proxy. */
const run = (command: string) =>
  runCommand(command.replaceAll('sqlite:./', `sqlite:${folder}/`).split(' '), { folder });

test('backs up and restores a SQLite file', async () => {
  expect(onFiles).toHaveLength(5);
  await run('keys create --name shop');
  mkdirSync(join(folder, 'backups'));
  for (const command of onFiles) {
    const { status, stdout, stderr } = await run(command);
    expect(status, `${command}\n${stderr}`).toBe(0);
    if (command.startsWith('keys list')) expect(stdout).toContain('shop');
  }
  expect(statSync(join(folder, 'backups/2026-11-25.db')).mode & 0o777).toBe(0o600);
});

test.skipIf(SERVER_URL === '')('moves to the server that TEST_POSTGRES_URL names', async () => {
  const schema = await createTestSchema(SERVER_URL);
  closeAfterTest({ close: () => schema.drop() });
  await run('keys create --name shop');
  writeFileSync(join(folder, 'store_url'), `${schema.url}\n`, { mode: 0o600 });
  expect(toPostgres).toHaveLength(1);
  const { status, stdout } = await run(toPostgres[0]!);
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('client_keys: 1') });
  expect((await run(`keys list --store.url ${schema.url}`)).stdout).toContain('shop');
});
