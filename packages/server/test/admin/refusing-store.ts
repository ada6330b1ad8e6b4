/** Stores whose audit table can be made to refuse new rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTestSchema } from '../../src/stores/postgres/database.fixture.ts';
import { closeAfterTest } from '../close-after-test.ts';

export interface RefusingStore {
  /** For `store.url`. */
  url: string;
  refuseAudit(): Promise<unknown>;
}

export async function openRefusingPostgres(serverUrl: string): Promise<RefusingStore> {
  const schema = await createTestSchema(serverUrl);
  closeAfterTest({ close: () => schema.drop() });
  return {
    url: schema.url,
    refuseAudit: () =>
      schema.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit today'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`),
  };
}

export async function openRefusingSqlite(): Promise<RefusingStore> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-refusing-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
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
