/** Lists the rows that an administrator may see, in pages of the store. Does not know what rows are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPauses } from '@erp-proxy/async/tasks';

const PAGE_ROWS = 250;
/** Characters of rows that are checked without a pause. */
const SLICE_LENGTH = 128 * 1024;

interface VisibleRows<Row, Place> {
  after: Place | null;
  limit: number;
  /** Rows after this position; null: from the beginning. */
  list: (after: Place | null, limit: number) => Promise<Row[]>;
  placeOf: (row: Row) => Place;
  isVisible: (row: Row) => boolean;
  /** Length of the row in characters. Left out if rows are short. */
  lengthOf?: (row: Row) => number;
}

/** Lists up to `limit` visible rows, whatever is between them. */
export async function listVisible<Row, Place>({
  after,
  limit,
  list,
  placeOf,
  isVisible,
  lengthOf = () => 0,
}: VisibleRows<Row, Place>): Promise<Row[]> {
  const found: Row[] = [];
  const pause = createPauses(SLICE_LENGTH);
  for (let place = after; ; ) {
    const rows: Row[] = await list(place, PAGE_ROWS);
    for (const row of rows) {
      await pause(lengthOf(row));
      if (isVisible(row)) found.push(row);
      if (found.length === limit) return found;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return found;
    place = placeOf(last);
    // A store in memory answers without giving other work its turn.
    await nextTurn();
  }
}
