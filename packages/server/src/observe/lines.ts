/**
 * Buffers lines briefly, and prints and writes them together: a write costs more than a line, and a line that is
 * printed alone, while the code is out of the processor's caches, costs several times one that follows another.
 */

export interface Lines {
  /** `print` returns the line with its line break. It is called once, within a tenth of a second, in order. */
  add(print: () => string): void;
}

export interface LineDestination {
  write(lines: string): unknown;
  /** Bytes that were written, but that the receiver has not taken yet. */
  readonly writableLength?: number;
}

/**
 * Maximum time for which a line is buffered. An end that runs no more JavaScript loses these lines: SIGKILL, a crash of
 * Node, too little memory. With 10 ms, most calls at 100 calls a second wake the process once more for their line.
 */
const BUFFERED_MS = 100;
/** Few: what they refer to must not survive collections of young objects. */
const UNPRINTED_MAX = 16;
/** In characters. */
const PRINTED_MAX = 64 * 1024;
/** Above this, the receiver has stopped reading. Further lines are dropped, because they would fill the memory. */
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
    // Taken one by one: if one cannot be printed, the others are printed next time.
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
