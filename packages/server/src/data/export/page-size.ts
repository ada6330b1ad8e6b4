/**
 * The number of records of the next page. Short pages keep interactive calls from waiting for a worker of Odoo, and
 * bound the memory of an export. Long pages cost Odoo less. Pure.
 */

/** What is known about a page. */
export interface PageCost {
  records: number;
  bytes: number;
  /** Milliseconds from sending the call to the end of its answer. */
  tookMs: number;
  /** Milliseconds that the call waited for other calls. */
  waitedMs: number;
}

export const PAGE_SIZE_FIRST = 100;
const PAGE_SIZE_MAX = 5000;
/** Bytes that a page should have. */
const PAGE_BYTES = 1024 * 1024;
/** Time that a page should take: alone, and while others call the same database. */
const PAGE_MS = 250;
const BUSY_PAGE_MS = 50;
/** A call that waited as long for its turn is not alone. */
const BUSY_WAIT_MS = 5;
/** The pages of one export differ, so that one of them changes the size by these factors at most. */
const GROWTH_MAX = 2;
const SHRINKAGE_MAX = 1 / 4;

export function choosePageSize(size: number, { records, bytes, tookMs, waitedMs }: PageCost): number {
  if (records === 0) return size;
  const pageMs = waitedMs >= BUSY_WAIT_MS ? BUSY_PAGE_MS : PAGE_MS;
  const fitting = records * Math.min(pageMs / Math.max(tookMs, 1), PAGE_BYTES / Math.max(bytes, 1));
  const wanted = Math.min(Math.max(fitting, size * SHRINKAGE_MAX), size * GROWTH_MAX);
  return Math.round(Math.min(PAGE_SIZE_MAX, Math.max(1, wanted)));
}
