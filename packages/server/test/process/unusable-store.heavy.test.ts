/** Tests store files that the program cannot use: it reports the reason and exits, instead of retrying forever. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFileOfVersion1 } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { makeFolder, runProgram } from './program.ts';

const CASES: Record<string, { prepare: (folder: string) => string; says: RegExp }> = {
  'in a folder that the kernel does not allow to create': {
    prepare: () => '/proc/erp-proxy-test/store.db',
    says: /its directory cannot be made there\. Set store\.url to another place\./,
  },
  'that is a directory': {
    prepare: (folder) => {
      mkdirSync(join(folder, 'store.db'));
      return join(folder, 'store.db');
    },
    says: /a file, not a directory/,
  },
  'in a folder that is a file': {
    prepare: (folder) => {
      writeFileSync(join(folder, 'data'), '');
      return join(folder, 'data', 'deeper', 'store.db');
    },
    says: /a part of its path is a file/,
  },
  'that is not a database': {
    prepare: (folder) => {
      writeFileSync(join(folder, 'store.db'), 'name;price\n'.repeat(1000));
      return join(folder, 'store.db');
    },
    says: /not a SQLite database/,
  },
  'of a newer version': {
    prepare: (folder) => {
      const file = join(folder, 'store.db');
      createFileOfVersion1(file);
      const database = new DatabaseSync(file);
      database.exec('INSERT INTO migrations VALUES (999)');
      database.close();
      return file;
    },
    says: /written by a newer erp-proxy \(store version 999/,
  },
};

for (const [name, { prepare, says }] of Object.entries(CASES)) {
  test.each([1, 2])(`exits with a clear error for a file ${name}, with workers: %i`, async (workers) => {
    const folder = makeFolder();
    const path = prepare(folder);
    const before = readdirSync(folder);
    const args = ['serve', '--http.port=0', `--workers=${workers}`, `--store.url=sqlite:${path}`];
    const { status, stderr } = await runProgram(args, { folder });
    expect(status).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(path);
    expect(readdirSync(folder)).toEqual(before);
  });
}

test('a command exits with a clear error too', async () => {
  const folder = makeFolder();
  const args = ['migrate', '--store.url=sqlite:/proc/erp-proxy-test/store.db'];
  expect(await runProgram(args, { folder })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/its directory cannot be made there/),
  });
});
