/** Reads the records, groups or ids in a result of Odoo. */
import { isObject } from '@erp-proxy/json';

export interface RecordRow extends Record<string, unknown> {
  id: number;
}

export function asRows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Picks the records with these ids, each once, in the order of Odoo's answer. */
export function asRecords(value: unknown, ids: readonly number[]): RecordRow[] {
  const wanted = new Set<unknown>(ids);
  return asRows(value).filter((row): row is RecordRow => wanted.delete(row['id']));
}

/**
 * Keeps the id and the named members of each row. A server can send other members, which would count for the size of an
 * answer.
 */
export function pickMembers<Row extends Record<string, unknown>>(
  rows: readonly Row[],
  names: readonly string[],
): Row[] {
  const picked = new Set(['id', ...names]);
  return rows.map(
    (row) => Object.fromEntries(Object.entries(row).filter(([name]) => picked.has(name))) as Row,
  );
}

/** The most records that one call of `create_record` creates or `call_method` copies. */
const NEW_IDS_MAX = 200;

/** Reads the ids in the result of a method that creates records; empty unless all of them are ids. */
export function readNewIds(result: unknown): number[] {
  const ids = Array.isArray(result) ? result : [result];
  return ids.length <= NEW_IDS_MAX && ids.every((id) => Number.isSafeInteger(id) && id > 0) ? ids : [];
}
