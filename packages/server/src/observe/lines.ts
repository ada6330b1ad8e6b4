/** Collects lines so that those of one turn of the event loop leave in one write: a write a line costs more than the line. */

export interface LineDestination {
  write(lines: string): unknown;
}

/** What is still held when the process ends is written then. */
export function collectLines(destination: LineDestination): LineDestination {
  let held = '';
  const flush = () => {
    const lines = held;
    held = '';
    if (lines !== '') destination.write(lines);
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
