/**
 * Pages of a list. A cursor holds the position of the last item shown, so that concurrent additions and removals
 * neither skip nor repeat items.
 */

import { createPauses } from '@erp-proxy/async/tasks';
import type { Page, PageQuery } from '@erp-proxy/contract';
import type { z } from 'zod';
import { createAdminError } from './admin-error.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;
/**
 * Maximum characters of rows in a page: it ends with the row that reaches this, because an answer is serialized without
 * a pause.
 */
const PAGE_LENGTH_MAX = 512 * 1024;
/** Characters of rows that are converted without a pause. A policy of this length takes some milliseconds. */
const SLICE_LENGTH = 32 * 1024;

export interface Listing<Row, Place, View> {
  /** Schema of a position, which a cursor contains. */
  place: z.ZodType<Place>;
  placeOf: (row: Row) => Place;
  /** Returns rows after this position; null: from the beginning. */
  list: (after: Place | null, limit: number) => Promise<Row[]>;
  show: (row: Row) => View;
  /** Length of the row in characters. Left out if rows are short. */
  lengthOf?: (row: Row) => number;
}

export async function readPage<Row, Place, View>(
  { limit = LIMIT_DEFAULT, cursor }: PageQuery,
  { place, placeOf, list, show, lengthOf = () => 0 }: Listing<Row, Place, View>,
): Promise<Page<View>> {
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX))
    throw createAdminError(400, `limit is a whole number from 1 to ${LIMIT_MAX}.`);
  // One additional row tells whether there is a next page.
  const rows = await list(cursor === undefined ? null : readCursor(cursor, place), limit + 1);
  const items: View[] = [];
  const pause = createPauses(SLICE_LENGTH);
  let length = 0;
  let last: Row | undefined;
  for (const row of rows.slice(0, limit)) {
    items.push(show(row));
    last = row;
    length += lengthOf(row);
    if (length >= PAGE_LENGTH_MAX) break;
    await pause(lengthOf(row));
  }
  return {
    items,
    next: rows.length > items.length && last !== undefined ? printCursor(placeOf(last)) : null,
  };
}

function printCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function readCursor<Place>(cursor: string, place: z.ZodType<Place>): Place {
  try {
    return place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw createAdminError(
      400,
      'cursor is not one of this list: give `next` of the page before it, unchanged.',
    );
  }
}
