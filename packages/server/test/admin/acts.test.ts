/** Promises about changes whose record the audit does not take: nothing is changed, and the caller hears so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestSchema } from '../../src/stores/postgres/database.fixture.ts';
import { SETTINGS, startAdmin } from './admin-client.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

interface RefusingStore {
  url: string;
  /** The table of the audit takes no rows from then on. */
  refuseAudit(): Promise<unknown>;
}

async function makePostgres(): Promise<RefusingStore> {
  const schema = await createTestSchema(SERVER_URL);
  onTestFinished(() => schema.drop());
  return {
    url: schema.url,
    refuseAudit: () =>
      schema.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit today'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`),
  };
}

async function makeSqlite(): Promise<RefusingStore> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-acts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  return {
    url: `sqlite:${file}`,
    async refuseAudit() {
      const database = new DatabaseSync(file);
      database.exec(
        "CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END",
      );
      database.close();
    },
  };
}

describe.each([
  { name: 'SQLite', make: makeSqlite, isSkipped: false },
  { name: 'PostgreSQL (TEST_POSTGRES_URL)', make: makePostgres, isSkipped: SERVER_URL === '' },
])('$name', ({ make, isSkipped }) => {
  test.skipIf(isSkipped)('changes no key and no instance whose act cannot be recorded', async () => {
    const { url, refuseAudit } = await make();
    const { get, post, patch, remove, listActs } = await startAdmin({
      settings: { ...SETTINGS, 'store.url': url },
    });
    const { id } = (await post('/keys', { name: 'Shop' })).json;
    const prod = {
      name: 'prod',
      url: 'https://erp.example.com',
      db: 'prod',
      user_id: 2,
      api_key: 'odoo-secret-1',
    };
    expect((await post('/instances', prod)).status).toBe(201);
    const read = async () => [
      (await get('/keys')).json.items,
      (await get('/instances')).json.items,
      await listActs(),
    ];
    const before = await read();
    await refuseAudit();
    const answers = [
      await post('/keys', { name: 'Second' }),
      await patch(`/keys/${id}`, { name: 'Other' }),
      await post(`/keys/${id}/rotate`, { overlap_seconds: 0 }),
      await post(`/keys/${id}/revoke`),
      await post('/instances', { ...prod, name: 'second' }),
      await patch('/instances/prod', { db: 'other' }),
      await remove('/instances/prod'),
    ];
    for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(500);
    expect(await read()).toEqual(before);
  });
});
