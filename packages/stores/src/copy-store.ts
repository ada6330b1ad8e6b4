/** Copies everything of a store into an empty one, and compares both before the copy becomes visible. */
import { createHash } from 'node:crypto';
import { findEngine } from './engines.ts';
import { findUpgrade, openStore } from './open.ts';
import { StoreError } from './store-error.ts';
import type { Row, StoreTables, TableShape } from './tables.ts';

export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
}

interface CopyOptions {
  isSnapshot: boolean;
  /** Names of the two settings or flags with the URLs. Errors name these in place of `store.url`. */
  setBy?: { readonly from: string; readonly to: string };
  /** Called for a store that had an older schema. */
  onUpgrade?: (upgrade: NonNullable<ReturnType<typeof findUpgrade>>) => void;
}

/**
 * Rejects with a {@link StoreError} if the target is not empty, or if the source changes during the copy. The target
 * then stays as it was. With `isSnapshot`, the source may change: the copy has its state of one moment.
 */
export async function copyStore(
  from: string,
  to: string,
  { isSnapshot, setBy, onUpgrade }: CopyOptions,
): Promise<CopiedTable[]> {
  const forSource = nameSetting(setBy?.from);
  const forTarget = nameSetting(setBy?.to);
  const sourceEngine = await forSource(() => findEngine(from));
  const targetEngine = await forTarget(() => findEngine(to));
  const { openTables: openSourceTables } = sourceEngine;
  const { openTables: openTargetTables } = targetEngine;
  if (openSourceTables === null || openTargetTables === null) {
    throw new StoreError('A store in memory cannot be copied: it ends with its process.');
  }
  const found = await forSource(() => sourceEngine.lookFor(from));
  if (!found.exists) throw new StoreError(`There is no store ${found.label}.`);
  // Opening migrates both stores to the newest schema.
  for (const open of [() => forSource(() => openStore(from)), () => forTarget(() => openStore(to))]) {
    const store = await open();
    const upgrade = findUpgrade(store);
    await store.close();
    if (upgrade !== null) onUpgrade?.(upgrade);
  }
  const source = await forSource(() => openSourceTables(from, 'read'));
  try {
    const target = await forTarget(() => openTargetTables(to, 'write'));
    try {
      return await copyTables(source, target, isSnapshot);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Returns a function that runs `run` and names `setBy` in its errors in place of `store.url`. */
function nameSetting(setBy = 'store.url') {
  return async <Result>(run: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StoreError) || setBy === 'store.url') throw error;
      throw new StoreError(error.message.replaceAll('store.url', setBy), { cause: error });
    }
  };
}

async function copyTables(
  source: StoreTables,
  target: StoreTables,
  isSnapshot: boolean,
): Promise<CopiedTable[]> {
  const tables = await source.list();
  if (JSON.stringify(tables) !== JSON.stringify(await target.list())) {
    throw new StoreError(`The tables of ${source.label} and ${target.label} differ.`);
  }
  for (const table of tables) await refuseRows(table, target);
  for (const table of tables) {
    await target.clear(table);
    for await (const rows of source.read(table)) await target.insert(table, rows);
  }
  if (!isSnapshot) await source.renew();
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const [original, copy] = [await digest(source, table), await digest(target, table)];
    if (original.hash !== copy.hash) {
      throw new StoreError(
        `The table ${table.name} of ${source.label} has changed while it was copied. Stop every process that uses it, and copy again. Nothing was written.`,
      );
    }
    copied.push({ name: table.name, rows: copy.rows });
  }
  await target.commit();
  return copied;
}

/** A new store has one row in this table: the beginning of the chain. */
const CHAIN = 'audit_chain';

async function refuseRows(table: TableShape, target: StoreTables): Promise<void> {
  for await (const rows of target.read(table)) {
    const isNew = table.name === CHAIN && rows[0]?.[table.columns.indexOf('head_seq')] === 0;
    if (rows.length === 0 || isNew) continue;
    throw new StoreError(
      `${target.label} is not empty: the table ${table.name} has rows. Copy into a new file, database or schema.`,
    );
  }
}

/** A hash of all rows that does not depend on their order: engines may order texts differently. */
async function digest(store: StoreTables, table: TableShape): Promise<{ hash: string; rows: number }> {
  const sum = Buffer.alloc(32);
  let rows = 0;
  for await (const batch of store.read(table)) {
    for (const row of batch) {
      rows++;
      for (const [index, byte] of hashRow(row).entries()) sum[index]! ^= byte;
    }
  }
  return { hash: `${rows} ${sum.toString('hex')}`, rows };
}

function hashRow(row: Row): Buffer {
  const cells = row.map((cell) =>
    cell instanceof Uint8Array ? { hex: Buffer.from(cell).toString('hex') } : cell,
  );
  return createHash('sha256').update(JSON.stringify(cells)).digest();
}
