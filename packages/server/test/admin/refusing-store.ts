/**
 * Stores whose audit table can be made to refuse new rows. At the end of the test, before the proxy closes, it accepts
 * rows again: otherwise the closing proxy would try to write its records for seconds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { closeAfterTest } from '../close-after-test.ts';

export interface RefusingStore {
  /** The URL for the setting `store.url`. */
  url: string;
  refuseAudit(): Promise<unknown>;
}

export async function openRefusingPostgres(serverUrl: string): Promise<RefusingStore> {
  const schema = await createTestSchema(serverUrl);
  closeAfterTest({ close: () => schema.drop() });
  return {
    url: schema.url,
    async refuseAudit() {
      await schema.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit today'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`);
      closeAfterTest({ close: () => schema.query('DROP FUNCTION refuse CASCADE') });
    },
  };
}

export async function openRefusingSqlite(): Promise<RefusingStore> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-refusing-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
  const file = join(folder, 'store.db');
  return {
    url: `sqlite:${file}`,
    async refuseAudit() {
      execute(
        file,
        "CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END",
      );
      closeAfterTest({ close: () => execute(file, 'DROP TRIGGER refuse') });
    },
  };
}

function execute(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
