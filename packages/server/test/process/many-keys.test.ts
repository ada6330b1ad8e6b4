/** A search among very many keys does not block the program. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { makeFolder, startServer } from './program.ts';
import { watchHealth } from './watch-health.ts';

const KEYS = Number(process.env['TEST_MANY_KEYS'] ?? 200_000);
const TOKEN = 'a token for the tests of many keys, long enough';

test.each([
  ['a search that finds nothing', '?search=nobody-has-this', 0],
  ['a search for the last one', `?search=name%20${KEYS}-`, 1],
  ['a state that one has', '?state=revoked', 1],
  ['a state that none has', '?state=expired', 0],
])('health checks are answered during %s among many keys', { timeout: 120_000 }, async (_, query, count) => {
  const folder = makeFolder();
  const first = await startServer([], { folder });
  first.kill('SIGTERM');
  await first.ended;
  const database = new DatabaseSync(join(folder, 'data/erp-proxy.db'));
  database.exec(
    `WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < ${KEYS})
     INSERT INTO client_keys (id, name, secret_hash, created_at, revoked_at)
       SELECT substr(hex(randomblob(8)), 1, 12), 'name ' || n || '-', zeroblob(32), n, iif(n = ${KEYS}, 5, NULL)
       FROM row WHERE true ON CONFLICT DO NOTHING`,
  );
  database.close();

  const server = await startServer([], { folder, env: { ERP_PROXY_ADMIN_TOKEN: TOKEN } });
  const health = watchHealth(server.url);
  const startedMs = performance.now();
  const answer = await send(`${server.url}/admin/v1/keys${query}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const tookMs = performance.now() - startedMs;
  const { slowestMs } = await health.stop();
  expect(JSON.parse(answer.body.toString()).items).toHaveLength(count);
  // A program that read all keys at once would not answer during the whole search.
  expect(slowestMs).toBeLessThan(Math.max(200, tookMs / 2));
  if (process.env['TEST_MANY_KEYS'] !== undefined) console.log(query, { tookMs, slowestMs });
});
