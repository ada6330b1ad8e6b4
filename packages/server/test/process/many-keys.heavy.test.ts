/** Tests that a search among very many keys does not block the program. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { makeFolder, startServer } from './program.ts';
import { watchHealth } from './watch-health.ts';

const KEYS = Number(process.env['TEST_MANY_KEYS'] ?? 200_000);
const TOKEN = 'a token for the tests of many keys, long enough';
const SEARCHES = 3;
/**
 * A third of the smallest measured number. A program that read all keys at once would answer no request during a
 * search, or one that had already arrived.
 */
const ANSWERS_PER_SEARCH_MIN = 7;

const QUERIES: [name: string, query: string, found: number][] = [
  ['finds nothing', '?search=nobody-has-this', 0],
  ['finds the last one', `?search=name%20${KEYS}-`, 1],
  ['is for a state that one has', '?state=revoked', 1],
  ['is for a state that none has', '?state=expired', 0],
];

test('health checks are answered during a search among many keys', async () => {
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
  for (const [name, query, found] of QUERIES) {
    let answers = 0;
    for (let count = 0; count < SEARCHES; count++) {
      const before = health.answers;
      const answer = await send(`${server.url}/admin/v1/keys${query}`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      answers += health.answers - before;
      expect(JSON.parse(answer.body.toString()).items, name).toHaveLength(found);
    }
    expect(answers, `a search that ${name}`).toBeGreaterThan(ANSWERS_PER_SEARCH_MIN * SEARCHES);
  }
  await health.stop();
});
