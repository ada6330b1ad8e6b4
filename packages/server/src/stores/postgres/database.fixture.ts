/** For tests: a separate schema on a real server, so that tests do not affect each other. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestSchema {
  /** URL of a store in the schema. */
  url: string;
  query(text: string): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

export async function createTestSchema(serverUrl: string): Promise<TestSchema> {
  const name = `erp_proxy_test_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.searchParams.set('options', `-c search_path=${name}`);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA ${name}`);
  return {
    url: url.href,
    query: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    async drop() {
      await client.query(`DROP SCHEMA ${name} CASCADE`);
      await client.end();
    },
  };
}
