/** Joins the output of several workers line by line. Processes that write to the same pipe would mix their lines. */
import type { Readable, Writable } from 'node:stream';

const LINE_FEED = 0x0a;

/** Returns a function that adds a worker's output. A slow reader of `destination` slows the workers' output down. */
export function joinOutput(destination: Writable): (source: Readable) => void {
  const paused = new Set<Readable>();
  const resumeAll = () => {
    for (const source of paused) source.resume();
    paused.clear();
  };
  // After an error nothing is written any more, so there is nothing to wait for.
  destination.on('drain', resumeAll).on('error', resumeAll);

  return (source) => {
    let begun: Buffer = Buffer.alloc(0);
    source.on('data', (bytes: Buffer) => {
      const taken = Buffer.concat([begun, bytes]);
      const end = taken.lastIndexOf(LINE_FEED) + 1;
      begun = taken.subarray(end);
      if (end === 0 || destination.write(taken.subarray(0, end)) || !destination.writable) return;
      paused.add(source);
      source.pause();
    });
  };
}
