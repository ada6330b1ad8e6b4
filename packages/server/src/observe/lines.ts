/** Collects lines so that those of a moment leave in one write: a write costs more than a line. */

export interface LineDestination {
  write(lines: string): unknown;
  /** Bytes that were written and are not taken yet. */
  readonly writableLength?: number;
}

/** A tenth less processor time a call than one write in each turn of the event loop; `kill -9` loses so much of the log. */
const HELD_MS = 10;
/** In characters. */
const HELD_MAX = 64 * 1024;
/** With more than this waiting, whoever should take the lines has stopped: further ones are lost, or they would fill the memory. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** What is still held when the process ends is written then. */
export function collectLines(destination: LineDestination): LineDestination {
  let held = '';
  const flush = () => {
    const lines = held;
    held = '';
    if (lines === '' || (destination.writableLength ?? 0) > WAITING_BYTES_MAX) return;
    destination.write(lines);
  };
  let isFirst = true;
  return {
    write(line) {
      if (isFirst) process.once('exit', flush);
      isFirst = false;
      if (held === '') setTimeout(flush, HELD_MS).unref();
      held += line;
      if (held.length > HELD_MAX) flush();
    },
  };
}
