/** The SQLite store as tables. Blocks its thread, so only commands may use it. The file must have the newest schema. */
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { NOT_COPIED, ROWS_AT_ONCE, type Row, type StoreTables, type TableShape } from '../tables.ts';
import { describeFailure } from './failures.ts';

/** Maximum wait for the locks of other processes. */
const WAIT_MS = 5000;

/** Opens a file as tables. The mode `write` locks the file against other writers. Rejects with a {@link StoreError}. */
export function openSqliteTables(file: string, label: string, mode: 'read' | 'write'): StoreTables {
  const database = new DatabaseSync(file, { timeout: WAIT_MS });
  const begin = () => database.exec(mode === 'read' ? 'BEGIN' : 'BEGIN IMMEDIATE');
  // The copy must survive a power loss.
  guard(label, () => database.exec('PRAGMA synchronous = FULL'));
  guard(label, begin);
  return {
    label,
    async list() {
      const names = database
        .prepare(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
        )
        .all()
        .map(({ name }) => String(name));
      return names
        .filter((name) => !NOT_COPIED.has(name))
        .map((name) => ({ name, columns: listColumns(name) }));
    },
    async *read({ name, columns }) {
      const order = listKey(name).map(quote).join(', ');
      const list = columns.map(quote).join(', ');
      const statement = database.prepare(`SELECT ${list} FROM ${quote(name)} ORDER BY ${order}`);
      statement.setReturnArrays(true);
      let rows: Row[] = [];
      for (const row of statement.iterate()) {
        rows.push(row as unknown as Row);
        if (rows.length < ROWS_AT_ONCE) continue;
        yield rows;
        rows = [];
      }
      if (rows.length > 0) yield rows;
    },
    async renew() {
      database.exec('ROLLBACK');
      guard(label, begin);
    },
    async clear({ name }) {
      guard(label, () => database.exec(`DELETE FROM ${quote(name)}`));
    },
    async insert({ name, columns }, rows) {
      const places = columns.map(() => '?').join(', ');
      const list = columns.map(quote).join(', ');
      const statement = database.prepare(`INSERT INTO ${quote(name)} (${list}) VALUES (${places})`);
      for (const row of rows) guard(label, () => statement.run(...row));
    },
    async commit() {
      guard(label, () => database.exec('COMMIT'));
    },
    async close() {
      if (database.isOpen) database.close();
    },
  };

  function listColumns(name: string): string[] {
    return database
      .prepare('SELECT name FROM pragma_table_info(?) ORDER BY name')
      .all(name)
      .map((column) => String(column['name']));
  }

  function listKey(name: string): string[] {
    return database
      .prepare('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
      .all(name)
      .map((column) => String(column['name']));
  }
}

function quote(name: TableShape['name']): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function guard<Result>(label: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new StoreError(`${label}: ${describeFailure(error)}`);
  }
}
