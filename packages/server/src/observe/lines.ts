/** Collects lines so that those of one turn of the event loop leave in one write: a write a line costs more than the line. */

export interface LineDestination {
  write(lines: string): unknown;
  /** Bytes that were written and are not taken yet. */
  readonly writableLength?: number;
}

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
      if (held === '') setImmediate(flush);
      held += line;
    },
  };
}
