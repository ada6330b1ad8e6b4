/**
 * Buffers lines briefly, then prints and writes them together. A write costs more than a line, and a line that is
 * printed alone, while the code is not in the caches of the processor, costs several times as much as one after another
 * line.
 */

export interface Lines {
  /**
   * Adds a line. `print` returns the line with its line break, and is called once, within a tenth of a second, in
   * order.
   */
  add(print: () => string): void;
}

export interface LineDestination {
  write(lines: string): unknown;
  /** Number of written bytes that the receiver has not taken yet. */
  readonly writableLength?: number;
}

/**
 * Maximum time for which a line is buffered. If the process ends without running JavaScript, these lines are lost: by
 * SIGKILL, a crash of Node, or lack of memory. With 10 ms, at 100 calls a second, most calls would wake the process
 * once more for their line.
 */
const BUFFERED_MS = 100;
/** Small, because objects that unprinted lines refer to must not survive collections of young objects. */
const UNPRINTED_MAX = 16;
/** Number of printed characters after which lines are written. */
const PRINTED_MAX = 64 * 1024;
/**
 * Number of untaken bytes above which the receiver counts as stopped. Further lines are dropped, because they would
 * fill the memory.
 */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** Buffered lines are also written when the process exits. */
export function collectLines(destination: LineDestination): Lines {
  const unprinted: (() => string)[] = [];
  let printed = '';
  let isTimed = false;
  const write = () => {
    const lines = printed;
    printed = '';
    if (lines === '' || (destination.writableLength ?? 0) > WAITING_BYTES_MAX) return;
    destination.write(lines);
  };
  const printAll = () => {
    // Each function is removed before it is called: if one throws, the rest is printed next time.
    for (let print = unprinted.shift(); print !== undefined; print = unprinted.shift()) {
      const line = print();
      printed += line;
      if (printed.length > PRINTED_MAX) write();
    }
  };
  const flush = () => {
    isTimed = false;
    printAll();
    write();
  };
  let isFirst = true;
  return {
    add(print) {
      if (isFirst) process.once('exit', flush);
      isFirst = false;
      if (!isTimed) setTimeout(flush, BUFFERED_MS).unref();
      isTimed = true;
      unprinted.push(print);
      if (unprinted.length >= UNPRINTED_MAX) printAll();
    },
  };
}
