/** Decodes the base64 of a download as it arrives, and encodes that of an upload. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { viewAsBuffer } from '@erp-proxy/json';

/** Number of digits in a group, which encodes three bytes. */
const GROUP = 4;
const BLANK_ESCAPES = '\\n\\r\\t';

/** Thrown if a text is not base64. */
export class Base64Error extends Error {
  override readonly name = 'Base64Error';

  constructor() {
    super('the value is not base64');
  }
}

/**
 * Decodes base64 that arrives in pieces, as the content of a JSON string. Odoo wraps some values into lines, so the
 * escapes of white space between the digits are skipped. Everything else that is not base64 is an error.
 */
export class Base64Decoder {
  /** Up to three digits of the last group, and the first byte of an escape that was cut. */
  #rest = '';
  #hasPadding = false;

  /** Returns the bytes of all complete groups so far. Throws a {@link Base64Error}. */
  decode(piece: Uint8Array): Uint8Array {
    const text = this.#rest + viewAsBuffer(piece).toString('latin1');
    const isCut = text.endsWith('\\');
    const digits = removeBlanks(isCut ? text.slice(0, -1) : text);
    const whole = digits.length - (digits.length % GROUP);
    this.#rest = digits.slice(whole) + (isCut ? '\\' : '');
    return this.#decodeGroups(digits.slice(0, whole));
  }

  /** Ends the text. Throws a {@link Base64Error} if a group is incomplete. */
  end(): void {
    if (this.#rest !== '') throw new Base64Error();
  }

  /**
   * Node skips characters that are no digits, and stops at the padding, so the result is too short. Node also accepts
   * the digits of base64url. Odoo never prints them in a file: they occur in names and tokens.
   */
  #decodeGroups(digits: string): Uint8Array {
    if (digits.length === 0) return EMPTY;
    if (this.#hasPadding || digits.includes('-') || digits.includes('_')) throw new Base64Error();
    const paddingBytes = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
    this.#hasPadding = paddingBytes > 0;
    const bytes = Buffer.from(digits, 'base64');
    if (bytes.length !== (digits.length / GROUP) * 3 - paddingBytes) throw new Base64Error();
    return bytes;
  }
}

const EMPTY = new Uint8Array(0);

function removeBlanks(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.)/g, (pair) => {
    if (BLANK_ESCAPES.includes(pair)) return '';
    if (pair === '\\/') return '/';
    throw new Base64Error();
  });
}

/** A multiple of three bytes, so that only the last slice has padding. */
const SLICE_BYTES = 3 * 256 * 1024;

/**
 * Encodes a file as base64, in slices: encoding all of it at once would keep other requests waiting. `head` and `tail`
 * are put before and after the digits.
 */
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
