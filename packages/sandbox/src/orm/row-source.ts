/** The interface of a layer of a table: rows by id, in the order of an index, and by the value of a column. */
import type { Json } from '../json/value.ts';
import type { Row } from './row.ts';

/**
 * An index of the table, and bounds of its first column, both included. `write_date` is an index on (write_date, id),
 * in which empty times are last.
 */
export type Range =
  | { readonly index: 'id'; readonly min: number; readonly max: number }
  | { readonly index: 'write_date'; readonly min: string; readonly max: string };

export interface RowSource {
  get(id: number): Row | undefined;
  scan(range: Range, isDescending?: boolean): Iterable<Row>;
  /** About the number of rows that a scan would give. */
  estimate(range: Range): number;
  /** The rows with this value in a column, or in the list of a many2many column, the lowest id first. */
  where(column: string, value: Json): Row[];
}

export const allIds: Range = { index: 'id', min: 0, max: Number.MAX_SAFE_INTEGER };
export const allTimes: Range = { index: 'write_date', min: '', max: '\uffff' };

/** The key of a row in the index on (write_date, id). */
export function keyTime(row: Row): string {
  return `${readTime(row)} ${String(row['id']).padStart(16, '0')}`;
}

/** The time of a row's last change at full length, so that texts compare like times. */
function readTime(row: Row): string {
  const time = row['write_date'];
  return typeof time === 'string' ? padTime(time) : '\uffff';
}

/** `2026-11-21 01:30:31.5` becomes `2026-11-21 01:30:31.500000`. */
export function padTime(time: string): string {
  return time.length <= 19 ? `${time}.000000` : time.padEnd(26, '0');
}
