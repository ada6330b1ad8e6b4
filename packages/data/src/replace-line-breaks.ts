/** Puts a JSON text on one line, for answers with one JSON text in each line. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const SLICE_BYTES = 64 * 1024;

/**
 * Replaces line breaks by spaces, in place. In JSON, they occur only between tokens. Odoo prints none, and a native
 * search shows that fast. Works in slices: megabytes must not keep other callers waiting.
 */
export async function replaceLineBreaks(bytes: Uint8Array): Promise<void> {
  const found = [LINE_FEED, CARRIAGE_RETURN].map((byte) => bytes.indexOf(byte)).filter((at) => at >= 0);
  let yieldAt = SLICE_BYTES;
  for (let at = Math.min(...found, bytes.length); at < bytes.length; at++) {
    if (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN) bytes[at] = SPACE;
    if (at < yieldAt) continue;
    await yieldToEventLoop();
    yieldAt = at + SLICE_BYTES;
  }
}
