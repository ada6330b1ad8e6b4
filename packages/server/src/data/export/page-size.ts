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

const PAGE_SIZE_FIRST = 100;
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
/** What a page counts in relation to the one after it. */
const MEMORY = 0.8;
/** Sizes that deviate by a smaller part of their mean do not tell what a record costs. */
const DEVIATION_MIN = 0.1;

export class PageSize {
  #size = PAGE_SIZE_FIRST;
  /** Weighted sums over the pages so far: of 1, records, milliseconds, and their products. */
  #sums = { weight: 0, records: 0, ms: 0, recordsSquared: 0, product: 0 };

  /** Number of records to ask for. */
  get size(): number {
    return this.#size;
  }

  /** A page of `records` was too large to be taken. */
  halve(records: number): void {
    this.#size = Math.max(1, Math.floor(records / 2));
  }

  learn({ records, bytes, tookMs, waitedMs }: PageCost): void {
    if (records === 0) return;
    this.#add(records, tookMs);
    const pageMs = waitedMs >= BUSY_WAIT_MS ? BUSY_PAGE_MS : PAGE_MS;
    const byTime = pageMs / Math.max(this.#msPerRecord, Number.MIN_VALUE);
    const byBytes = PAGE_BYTES / (Math.max(bytes, 1) / records);
    const fitting = Math.max(Math.min(byTime, byBytes), this.#size * SHRINKAGE_MAX);
    this.#size = Math.round(Math.min(PAGE_SIZE_MAX, Math.max(1, Math.min(fitting, this.#size * GROWTH_MAX))));
  }

  #add(records: number, ms: number): void {
    const { weight, records: recordsSum, ms: msSum, recordsSquared, product } = this.#sums;
    this.#sums = {
      weight: weight * MEMORY + 1,
      records: recordsSum * MEMORY + records,
      ms: msSum * MEMORY + ms,
      recordsSquared: recordsSquared * MEMORY + records * records,
      product: product * MEMORY + records * ms,
    };
  }

  /**
   * The time that a further record costs, by linear regression. The time that every page takes, for example on a slow
   * network, does not count: smaller pages would not save it. While all pages have had the same size, it cannot be told.
   */
  get #msPerRecord(): number {
    const { weight, records, ms, recordsSquared, product } = this.#sums;
    const [meanRecords, meanMs] = [records / weight, ms / weight];
    const variance = recordsSquared / weight - meanRecords ** 2;
    if (variance < (DEVIATION_MIN * meanRecords) ** 2) return meanMs / meanRecords;
    return Math.max(0, (product / weight - meanRecords * meanMs) / variance);
  }
}
