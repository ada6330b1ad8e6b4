/** Tests the memory of commands: a long list with a slow reader does not fill it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import { makeFolder, runProgram, startProgram } from '../process/program.ts';
import { expectToStay } from '../time.ts';

const KEYS = 150_000;
/** A process that read a few pages needs about 110 MiB; the whole list needs 300. */
const MIB_MAX = 200;
/** Longer than the command needs to read the whole list. */
const UNREAD_MS = 4000;

let folder: string;
beforeEach(async () => {
  folder = makeFolder();
  expect((await runProgram(['keys', 'create', '--name=the only one'], { folder })).status).toBe(0);
  const database = new DatabaseSync(join(folder, 'data/erp-proxy.db'));
  const row = database.prepare('SELECT * FROM client_keys').get() as Record<string, string | number | null>;
  const names = Object.keys(row);
  const insert = database.prepare(`INSERT INTO client_keys (${names}) VALUES (${names.map(() => '?')})`);
  database.exec('BEGIN');
  for (let count = 0; count < KEYS; count++) {
    const copy = {
      ...row,
      id: `k${String(count).padStart(15, '0')}`,
      name: `a key of a long list, ${count}`,
    };
    insert.run(...Object.values(copy));
  }
  database.exec('COMMIT');
  database.close();
});

test.each([[[]], [['--json']]])('keys list %j waits for the reader of its pipe', async (more) => {
  const program = startProgram(['keys', 'list', ...more], { folder, isUnread: true });
  await expectToStay(() => readPeakMib(program.pid) < MIB_MAX, true, UNREAD_MS);
  program.resumeReading();
  const { status, stdout } = await program.ended;
  expect(status).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(KEYS + 1);
});

/** Peak memory of the process so far (proc(5), VmHWM). */
function readPeakMib(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
