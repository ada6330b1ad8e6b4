/** The PostgreSQL store as tables. The schema must have the newest version. */
import pg from 'pg';
import { type Cell, NOT_COPIED, ROWS_AT_ONCE, type StoreTables, type TableShape } from '../tables.ts';
import { throwStoreError } from './failures.ts';

interface Column {
  table: string;
  name: string;
  type: string;
  /** True for an identity column, whose values the server assigns. */
  isNumbered: boolean;
}

/** Opens a store as tables. The mode `write` locks the tables against other writers. */
export async function openPostgresTables(
  config: pg.ClientConfig,
  label: string,
  mode: 'read' | 'write',
): Promise<StoreTables> {
  const client = new pg.Client(config);
  // A broken connection also fails its statement. Without a listener, the event would end the process.
  client.on('error', () => {});
  await client.connect();
  const run = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    client.query<Row>(text, values).catch((error: unknown) => throwStoreError(label, error));
  // A writer must see rows that others committed before it got the locks.
  const begin = () => run(mode === 'read' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');
  let columns: Column[] = [];
  try {
    await begin();
    columns = await readColumns(client);
    const names = [...new Set(columns.map(({ table }) => table))];
    if (mode === 'write') {
      const list = names.map((name) => pg.escapeIdentifier(name)).join(', ');
      await run(`LOCK TABLE ${list} IN SHARE ROW EXCLUSIVE MODE`);
    }
  } catch (error) {
    await client.end();
    throw error;
  }
  const typesOf = (table: TableShape) =>
    table.columns.map(
      (name) => columns.find((column) => column.table === table.name && column.name === name)!.type,
    );

  return {
    label,
    async list() {
      const names = [...new Set(columns.map(({ table }) => table))];
      return names.map((table) => ({
        name: table,
        columns: columns.filter((column) => column.table === table).map(({ name }) => name),
      }));
    },
    async *read(table) {
      const types = typesOf(table);
      const list = table.columns.map((name, index) => select(name, types[index]!)).join(', ');
      const order = (await readKey(client, table.name)).map((name) => pg.escapeIdentifier(name)).join(', ');
      await run(
        `DECLARE copied NO SCROLL CURSOR FOR SELECT ${list} FROM ${pg.escapeIdentifier(table.name)} ORDER BY ${order}`,
      );
      try {
        for (;;) {
          const { rows } = await client
            .query<unknown[]>({ text: `FETCH ${ROWS_AT_ONCE} FROM copied`, rowMode: 'array' })
            .catch((error: unknown) => throwStoreError(label, error));
          if (rows.length === 0) return;
          yield rows.map((row) => row.map((cell, index) => readCell(cell, types[index]!)));
        }
      } finally {
        await client.query('CLOSE copied').catch(() => {});
      }
    },
    async renew() {
      await run('ROLLBACK');
      await begin();
    },
    async clear({ name }) {
      await run(`DELETE FROM ${pg.escapeIdentifier(name)}`);
    },
    async insert(table, rows) {
      const types = typesOf(table);
      const list = table.columns.map((name) => pg.escapeIdentifier(name)).join(', ');
      const places = rows.map((row, at) => {
        return `(${row.map((_, index) => place(at * row.length + index + 1, types[index]!)).join(', ')})`;
      });
      await run(
        `INSERT INTO ${pg.escapeIdentifier(table.name)} (${list}) OVERRIDING SYSTEM VALUE VALUES ${places.join(', ')}`,
        rows.flat().map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell) : cell)),
      );
    },
    async commit() {
      for (const { table, name } of columns.filter(({ isNumbered }) => isNumbered)) {
        // The sequence continues after the copied rows.
        await run(
          `SELECT setval(pg_get_serial_sequence($1, $2), max(${pg.escapeIdentifier(name)})) FROM ${pg.escapeIdentifier(table)}`,
          [pg.escapeIdentifier(table), name],
        );
      }
      await run('COMMIT');
    },
    async close() {
      await client.end();
    },
  };
}

/** Columns of the tables of the store, without those that the server computes, ordered by table and name. */
async function readColumns(client: pg.Client): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT table_name AS table, column_name AS name, data_type AS type,
         is_identity = 'YES' AS "isNumbered" FROM information_schema.columns
       JOIN pg_catalog.pg_tables ON schemaname = table_schema AND tablename = table_name
       WHERE table_schema = current_schema() AND is_generated = 'NEVER'
       ORDER BY table_name COLLATE "C", column_name COLLATE "C"`,
  );
  return rows.filter(({ table }) => !NOT_COPIED.has(table));
}

/** The columns of the primary key. */
async function readKey(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_catalog.pg_index
       JOIN pg_catalog.pg_class ON pg_class.oid = indrelid AND relname = $1
         AND relnamespace = current_schema()::regnamespace
       JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
       WHERE indisprimary ORDER BY array_position(indkey::int2[], attnum)`,
    [table],
  );
  return rows.map(({ name }) => name);
}

const TIME = 'timestamp with time zone';

function select(name: string, type: string): string {
  const column = pg.escapeIdentifier(name);
  if (type === TIME) return `round(extract(epoch FROM ${column}) * 1000)::bigint`;
  return type === 'boolean' ? `${column}::integer` : column;
}

/** Converts a value of the driver, which returns `bigint` as text. */
function readCell(cell: unknown, type: string): Cell {
  return cell !== null && (type === 'bigint' || type === TIME) ? Number(cell) : (cell as Cell);
}

function place(number: number, type: string): string {
  if (type === TIME) return `to_timestamp($${number}::double precision / 1000)`;
  return type === 'boolean' ? `$${number}::integer <> 0` : `$${number}::${type}`;
}
