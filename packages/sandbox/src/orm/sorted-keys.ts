/** A sorted set of keys for range scans: an index of a table. Insertion and removal cost the length of one chunk. */
const chunkMax = 512;

export class SortedKeys<Key extends number | string> {
  #chunks: Key[][] = [];

  /** Takes unsorted keys without duplicates. */
  constructor(keys: Iterable<Key> = []) {
    const sorted = [...keys].sort((a, b) => (a < b ? -1 : 1));
    for (let start = 0; start < sorted.length; start += chunkMax)
      this.#chunks.push(sorted.slice(start, start + chunkMax));
  }

  add(key: Key): void {
    const at = Math.min(this.#findChunk(key), Math.max(0, this.#chunks.length - 1));
    const chunk = this.#chunks[at] ?? [];
    if (this.#chunks.length === 0) this.#chunks.push(chunk);
    const index = findIndex(chunk, key);
    if (chunk[index] === key) return;
    chunk.splice(index, 0, key);
    if (chunk.length > 2 * chunkMax) this.#chunks.splice(at + 1, 0, chunk.splice(chunkMax));
  }

  delete(key: Key): void {
    const at = this.#findChunk(key);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    const index = findIndex(chunk, key);
    if (chunk[index] !== key) return;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The keys from `min` to `max`, both included. Keys may be added and removed between two steps. */
  *range(min: Key, max: Key, isDescending = false): Generator<Key> {
    // Continues after the last key instead of at a position, since the chunks may have changed meanwhile.
    let key = isDescending ? this.#lastUpTo(max, true) : this.#firstFrom(min, true);
    while (key !== undefined && (isDescending ? key >= min : key <= max)) {
      yield key;
      key = isDescending ? this.#lastUpTo(key, false) : this.#firstFrom(key, false);
    }
  }

  /** Number of keys from `min` to `max`, counted in whole chunks where there are many. */
  estimate(min: Key, max: Key): number {
    let count = 0;
    for (let at = this.#findChunk(min); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as Key[];
      if ((chunk[0] as Key) > max) break;
      const isWhole = (chunk[0] as Key) >= min && (chunk.at(-1) as Key) <= max;
      count += isWhole ? chunk.length : chunk.filter((key) => key >= min && key <= max).length;
    }
    return count;
  }

  #firstFrom(key: Key, isIncluded: boolean): Key | undefined {
    const at = this.#findChunk(key);
    const chunk = this.#chunks[at];
    if (!chunk) return undefined;
    let index = findIndex(chunk, key);
    if (!isIncluded && chunk[index] === key) index++;
    return chunk[index] ?? this.#chunks[at + 1]?.[0];
  }

  #lastUpTo(key: Key, isIncluded: boolean): Key | undefined {
    const at = this.#findChunk(key);
    const chunk = this.#chunks[at];
    if (!chunk) return this.#chunks.at(-1)?.at(-1);
    let index = findIndex(chunk, key);
    if (!isIncluded || chunk[index] !== key) index--;
    return index >= 0 ? chunk[index] : this.#chunks[at - 1]?.at(-1);
  }

  /** The first chunk whose last key is not below `key`; the number of chunks if there is none. */
  #findChunk(key: Key): number {
    let [low, high] = [0, this.#chunks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#chunks[middle]?.at(-1) as Key) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The position of the first key that is not below `key`. */
function findIndex<Key>(chunk: readonly Key[], key: Key): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunk[middle] as Key) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
