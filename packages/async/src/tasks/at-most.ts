/**
 * Options of an `LRUCache` that keeps at most this number of entries. With its option `max`, the library allocates room
 * for all of them in advance: a millisecond and 240 KB for 10,000.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: countOne };
}

const countOne = () => 1;
