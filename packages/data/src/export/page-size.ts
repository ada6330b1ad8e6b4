/**
 * Chooses the number of records of the next page. Short pages keep interactive calls from waiting for a worker of Odoo,
 * and limit the memory of an export. Long pages take Odoo less time per record. Pure.
 */

/** Measurements of a page. */
export interface PageCost {
  records: number;
  bytes: number;
  /** Milliseconds from sending the call to the end of its answer. */
  tookMs: number;
  /**
   * Mean answer time of interactive calls to the database; 0 while unknown; null if there were no such calls lately.
   */
  interactiveMs: number | null;
}

const PAGE_SIZE_FIRST = 100;
const PAGE_SIZE_MAX = 5000;
/** Target size of a page. */
const PAGE_BYTES = 1024 * 1024;
/** Target duration of a page if nobody else calls the database. */
const PAGE_MS = 250;
/**
 * Time that a page should take while others call the database, as a part of the time of an interactive call: such a
 * call, if it waits for the only free worker of Odoo, then takes half as long again.
 */
const INTERACTIVE_PART = 1 / 2;
/** Minimum time of a page while others call the database, also used while the time of their calls is unknown. */
const BUSY_PAGE_MS = 10;
/** The pages of one export differ, so one page changes the size by these factors at most. */
const GROWTH_MAX = 2;
const SHRINKAGE_MAX = 1 / 4;
/** The weight of a page in relation to the page after it. */
const MEMORY = 0.8;
/** Page sizes must deviate from their mean by this part of it, or they do not tell what a record costs. */
const DEVIATION_MIN = 0.1;

export class PageSize {
  #size = PAGE_SIZE_FIRST;
  /** Sums over the pages so far, weighted by age: of 1, records, milliseconds, and their products. */
  #sums = { weight: 0, records: 0, ms: 0, recordsSquared: 0, product: 0 };

  /** The number of records to ask for next. */
  get size(): number {
    return this.#size;
  }

  /** Call it after a page of `records` was too large. */
  halve(records: number): void {
    this.#size = Math.max(1, Math.floor(records / 2));
  }

  learn({ records, bytes, tookMs, interactiveMs }: PageCost): void {
    if (records === 0) return;
    this.#add(records, tookMs);
    const { fixedMs, recordMs } = this.#costs;
    // Spend at least half of a page's time on its records.
    const byTime = Math.max(choosePageMs(interactiveMs) - fixedMs, fixedMs) / Math.max(recordMs, 1e-9);
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
   * The time that each page takes, and that each of its records adds, by linear regression. While all pages have about
   * the same size, all time is attributed to the records.
   */
  get #costs(): { fixedMs: number; recordMs: number } {
    const { weight, records, ms, recordsSquared, product } = this.#sums;
    const [meanRecords, meanMs] = [records / weight, ms / weight];
    const variance = recordsSquared / weight - meanRecords ** 2;
    const isTold = variance >= (DEVIATION_MIN * meanRecords) ** 2;
    const slope = isTold ? (product / weight - meanRecords * meanMs) / variance : meanMs / meanRecords;
    const recordMs = Math.min(Math.max(slope, 0), meanMs / meanRecords);
    return { fixedMs: meanMs - recordMs * meanRecords, recordMs };
  }
}

function choosePageMs(interactiveMs: number | null): number {
  return interactiveMs === null
    ? PAGE_MS
    : Math.min(PAGE_MS, Math.max(BUSY_PAGE_MS, interactiveMs * INTERACTIVE_PART));
}
