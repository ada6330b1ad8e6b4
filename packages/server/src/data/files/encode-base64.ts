/** Encodes a file as base64, in slices: encoding all of it at once would keep other requests waiting. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** A multiple of three bytes, so that only the last slice has padding. */
const SLICE_BYTES = 3 * 256 * 1024;

/** `head` and `tail` are put before and after the digits. */
export async function encodeBase64(
  head: Uint8Array,
  file: Uint8Array,
  tail: Uint8Array,
): Promise<Uint8Array> {
  const digits = Math.ceil(file.length / 3) * 4;
  const encoded = Buffer.allocUnsafe(head.length + digits + tail.length);
  encoded.set(head);
  const source = Buffer.from(file.buffer, file.byteOffset, file.length);
  let at = head.length;
  for (let start = 0; start < source.length; start += SLICE_BYTES) {
    if (start > 0) await yieldToEventLoop();
    const slice = source.toString('base64', start, Math.min(source.length, start + SLICE_BYTES));
    at += encoded.write(slice, at, 'latin1');
  }
  encoded.set(tail, at);
  return encoded;
}
