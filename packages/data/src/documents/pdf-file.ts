/** Reads a PDF that Odoo has sent as base64 in JSON, and describes it as a file. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Denial, type Reply, replyFile } from '@erp-proxy/gateway/terms';
import type { JsonSpan } from '@erp-proxy/json';
import { Base64Decoder, Base64Error } from '../files/base64.ts';
import { describeFile, findMediaType } from '../files/file-headers.ts';

const PDF = 'application/pdf';
const EXTENSION = '.pdf';
/** A multiple of four digits, whose decoding takes less than a millisecond. */
const SLICE_BYTES = 1024 * 1024;

/** The headers of a PDF. */
export function describePdf(name: string): Record<string, string> {
  const isNamed = name.toLowerCase().endsWith(EXTENSION);
  return describeFile({ name: isNamed ? name : name + EXTENSION, mediaType: PDF });
}

/** The reply with the PDF whose base64 is a JSON string; null if the value is no PDF. */
export async function replyPdf(bytes: Uint8Array, value: JsonSpan, name: string): Promise<Reply | null> {
  if (value.kind !== 'string') return null;
  const decoded = await decode(bytes.subarray(value.start + 1, value.end - 1));
  if (decoded instanceof Denial) return decoded;
  return findMediaType(decoded)?.mediaType === PDF ? replyFile(describePdf(name), decoded) : null;
}

async function decode(digits: Uint8Array): Promise<Buffer | Denial> {
  const decoder = new Base64Decoder();
  const pieces: Uint8Array[] = [];
  try {
    for (let start = 0; start < digits.length; start += SLICE_BYTES) {
      if (start > 0) await yieldToEventLoop();
      pieces.push(decoder.decode(digits.subarray(start, start + SLICE_BYTES)));
    }
    decoder.end();
  } catch (error) {
    if (error instanceof Base64Error) return NO_BASE64;
    throw error;
  }
  return Buffer.concat(pieces);
}

const NO_BASE64 = new Denial('upstream_bad_response', 'The PDF that Odoo has sent is not base64.', {
  isReadOnly: true,
});

/** The name in a header `content-disposition` (RFC 6266); null if there is none that can be read. */
export function readDispositionName(header: string): string | null {
  const [, encoded] = /(?:^|;)\s*filename\*\s*=\s*utf-8''([^;\s]+)/i.exec(header) ?? [];
  const [, quoted, plain] = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";\s]+))/i.exec(header) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Another form, or cut off: the plain name remains.
  }
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? null;
}
