/** The records or groups in a result of Odoo. */
import { isObject } from '../../json/is-object.ts';

export interface RecordRow extends Record<string, unknown> {
  id: number;
}

export function asRows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Rows that have the id of a record. */
export function asRecords(value: unknown): RecordRow[] {
  return asRows(value).filter((row): row is RecordRow => Number.isSafeInteger(row['id']));
}
