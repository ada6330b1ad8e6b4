/**
 * Counts durations in buckets whose bounds grow by a fixed factor, so that quantiles of any period can be computed from
 * sums of counts. A quantile is accurate to about a tenth. Pure.
 */

/** Quantiles in milliseconds. */
export interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

const FIRST_BOUND_MS = 0.1;
const FACTOR = 1.2;
const LOG_FACTOR = Math.log(FACTOR);
/** Number of buckets. The last one has all durations above five minutes. */
const BUCKETS = Math.ceil(Math.log(300_000 / FIRST_BOUND_MS) / LOG_FACTOR) + 2;

export class Durations {
  readonly #counts = new Uint32Array(BUCKETS);
  count = 0;

  add(ms: number): void {
    this.#counts[findBucket(ms)]! += 1;
    this.count++;
  }

  addAll(other: Durations): void {
    for (let index = 0; index < BUCKETS; index++) this.#counts[index]! += other.#counts[index]!;
    this.count += other.count;
  }

  /** The quantiles; null if there are no durations. */
  quantiles(): Quantiles | null {
    if (this.count === 0) return null;
    return { p50: this.#quantile(0.5), p95: this.#quantile(0.95), p99: this.#quantile(0.99) };
  }

  /** Pairs of index and count, without empty buckets: `[3, 1, 17, 20]`. */
  toJSON(): number[] {
    const pairs: number[] = [];
    for (const [index, count] of this.#counts.entries()) if (count > 0) pairs.push(index, count);
    return pairs;
  }

  /** Adds the counts of a result of `toJSON`. Ignores invalid pairs. */
  addPairs(pairs: unknown): void {
    if (!Array.isArray(pairs)) return;
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const index: unknown = pairs[at];
      const count: unknown = pairs[at + 1];
      if (!isBucket(index) || !isCount(count)) continue;
      this.#counts[index]! += count;
      this.count += count;
    }
  }

  #quantile(part: number): number {
    let left = part * this.count;
    for (const [index, count] of this.#counts.entries()) {
      if (count === 0 || count < left) {
        left -= count;
        continue;
      }
      // Durations count as evenly spread within a bucket.
      const low = index === 0 ? 0 : FIRST_BOUND_MS * FACTOR ** (index - 1);
      const high = FIRST_BOUND_MS * FACTOR ** index;
      return roundToThree(low + (high - low) * Math.max(0, left / count));
    }
    return 0;
  }
}

function findBucket(ms: number): number {
  if (!(ms > FIRST_BOUND_MS)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST_BOUND_MS) / LOG_FACTOR));
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isBucket(index: unknown): index is number {
  return Number.isInteger(index) && (index as number) >= 0 && (index as number) < BUCKETS;
}

/** Rounds to three significant digits: more would suggest an accuracy that does not exist. */
function roundToThree(ms: number): number {
  return Number(ms.toPrecision(3));
}
