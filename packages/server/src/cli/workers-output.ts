/**
 * Joins the output of several workers line by line, for a pipe or a socket. Processes that write to the same pipe would
 * mix their lines.
 */
import type { Readable, Writable } from 'node:stream';

const LINE_FEED = 0x0a;

/**
 * Returns a function that adds a worker's output. If the reader of `destination` is slow, workers wait before they
 * write more.
 */
export function joinOutput(destination: Writable): (source: Readable) => void {
  const paused = new Set<Readable>();
  const resumeAll = () => {
    for (const source of paused) source.resume();
    paused.clear();
  };
  // Also resumed after an error: nothing is written any more, so there is nothing to wait for.
  destination.on('drain', resumeAll).on('error', resumeAll);

  return (source) => {
    /** The pieces of an incomplete line. */
    let begun: Buffer[] = [];
    source.on('data', (bytes: Buffer) => {
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      if (end === 0) {
        begun.push(bytes);
        return;
      }
      // Nothing else is written between these pieces. Joining them first would copy all bytes.
      let isFull = false;
      for (const piece of [...begun, bytes.subarray(0, end)]) isFull = !destination.write(piece);
      begun = end === bytes.length ? [] : [bytes.subarray(end)];
      if (!isFull || !destination.writable) return;
      paused.add(source);
      source.pause();
    });
  };
}
