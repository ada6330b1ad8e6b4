/** Tests that the file of the audit has every record, in order, if the program is killed again and again. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { countRounds } from '../random-cases.ts';
import { createRandom } from '../seeded-random.ts';
import { pauseAtRandom } from '../time.ts';
import { makeFolder, runProgram, startServer } from './program.ts';

const TOKEN = 'the-admin-token-of-this-test-0123456789';
const KILLED_WITHIN_MS = 1500;

test('continues after each kill -9, and the comparison finds no difference', async () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = createRandom(seed);
  const folder = makeFolder();
  const path = join(folder, 'audit.ndjson');
  const env = {
    ERP_PROXY_ADMIN_TOKEN: TOKEN,
    ERP_PROXY_AUDIT_SINK: 'file',
    ERP_PROXY_AUDIT_SINK_PATH: path,
  };
  for (let round = 0; round < countRounds(3); round++) {
    const server = await startServer(['--workers=2'], { folder, env });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    let isOver = false;
    const client = (async () => {
      while (!isOver) {
        const body = JSON.stringify({ name: 'shop' });
        await send(`${server.url}/admin/v1/keys`, { method: 'POST', headers, body }).catch(() => {});
      }
    })();
    await pauseAtRandom(random, KILLED_WITHIN_MS);
    server.kill('SIGKILL');
    await server.ended;
    isOver = true;
    await client;
    endLease(folder);
  }
  const server = await startServer(['--workers=2'], { folder, env });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { body } = await send(`${server.url}/admin/v1/audit?limit=1`, { headers });
  const { seq } = JSON.parse(body.toString()).items[0];
  const readLast = () => JSON.parse(readFileSync(path, 'utf8').split('\n').at(-2) ?? '{}');
  await expect.poll(() => readLast().seq, { message: `seed ${seed}` }).toBeGreaterThanOrEqual(seq);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
  const { status, stdout } = await runProgram(['audit', 'compare', path, '--json'], { folder, env });
  expect(status, `seed ${seed}: ${stdout}`).toBe(0);
});

/** Without this, the next process would wait until the lease of the killed one ends, before it continues the file. */
function endLease(folder: string): void {
  const database = new DatabaseSync(join(folder, 'data/erp-proxy.db'));
  database.exec(`DELETE FROM leases WHERE name = 'audit-sink'`);
  database.close();
}
