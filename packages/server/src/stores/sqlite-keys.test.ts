import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createSqliteKeys } from './sqlite-keys.ts';
import { migrate } from './sqlite-migrations.ts';

/** Keeps the text of each statement, so that SQLite can be asked how it runs them. */
class RecordingDatabase extends DatabaseSync {
  readonly statements: string[] = [];

  override prepare(text: string): StatementSync {
    this.statements.push(text);
    return super.prepare(text);
  }
}

test('finds, lists and changes keys by an index: none of its statements goes through all keys or sorts them', async () => {
  const database = new RecordingDatabase(':memory:');
  migrate(database);
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
     INSERT INTO client_keys (id, name, secret_hash, created_at)
       SELECT 'key ' || n, 'name ' || (n / 2), zeroblob(32), n FROM numbers;
     ANALYZE;`,
  );
  database.statements.length = 0;
  const keys = createSqliteKeys(database, () => {});
  const plans = database.statements.map((statement) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${statement}`)
      .all()
      .map((row) => String(row['detail']))
      .join('; '),
  );
  const used = plans.filter((plan) => plan.includes('client_keys'));
  expect(used.filter((plan) => !/^SEARCH client_keys USING/.test(plan))).toEqual([
    // Whether there is any key: stops at the first.
    'SCAN client_keys USING COVERING INDEX client_keys_by_age',
  ]);
  expect(used.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  expect(used).toHaveLength(7);

  const middle = await keys.list({ after: { createdAt: 50_000, id: 'key 50000' }, limit: 2 });
  expect(middle.map((key) => key.id)).toEqual(['key 50001', 'key 50002']);
  const named = await keys.list({ after: null, limit: 10, name: 'name 40000' });
  expect(named.map((key) => key.id)).toEqual(['key 80000', 'key 80001']);
  database.close();
});
