/**
 * The headers of a download: the range that its caller asks for, and the name and type of the file. Names and media
 * types come from records, which any user of Odoo may have written. Pure.
 */

/** Name and media type that the record states; null if it does not. */
export interface FileDescription {
  name: string | null;
  mediaType: string | null;
}

/** Type and subtype without parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;
const NAME_LENGTH_MAX = 200;

/**
 * The headers of a file, which make a browser save it instead of showing it: a page that an attacker has stored in Odoo
 * must not run under the address of the proxy.
 */
export function describeFile({ name, mediaType }: FileDescription): Record<string, string> {
  const isMediaType = mediaType !== null && MEDIA_TYPE.test(mediaType);
  return {
    'content-type': isMediaType ? mediaType : 'application/octet-stream',
    'content-disposition': describeDisposition(name),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    // `no-transform`, because most files are compressed already.
    'cache-control': 'no-store, no-transform',
  };
}

/**
 * RFC 6266: `filename` for old clients, `filename*` for all characters. In `filename`, `_` replaces `/`, which an old
 * client could take for a folder.
 */
function describeDisposition(name: string | null): string {
  const cleaned = cleanName(name ?? '');
  if (cleaned === '') return 'attachment';
  const ascii = cleaned.replaceAll('/', '_').replaceAll(/[^ !#$&'()+,.0-9;=@A-Z[\]^_`a-z{}~-]/g, '_');
  const plain = `attachment; filename="${ascii}"`;
  return ascii === cleaned ? plain : `${plain}; filename*=UTF-8''${encodeExtended(cleaned)}`;
}

/**
 * Removes control and format characters, and path segments that lead to another folder. Keeps the end of a long name,
 * which has the extension.
 */
function cleanName(name: string): string {
  const base = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/gu, '')
    .split(/[/\\]/)
    .map((part) => part.replace(/^[.\s]+/, '').trim())
    .filter((part) => part !== '')
    .join('/');
  const characters = [...base];
  if (characters.length <= NAME_LENGTH_MAX) return base;
  const end = characters.slice(-20);
  return [...characters.slice(0, NAME_LENGTH_MAX - end.length), ...end].join('');
}

/** RFC 8187 section 3.2.1: `encodeURIComponent` does not encode four characters that must be encoded. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A range of bytes. `start` and `end` are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * The range that is asked for, of a file of `size` bytes. Null: the whole file, also if the header has several ranges
 * or is invalid. A server may ignore the header.
 */
export function readByteRange(header: string | undefined, size: number): ByteRange | 'beyond_end' | null {
  const [, first, last, suffix] = RANGE.exec(header?.trim() ?? '') ?? [];
  if (suffix !== undefined) {
    const count = Number(suffix);
    return count === 0 || size === 0 ? 'beyond_end' : { start: Math.max(0, size - count), end: size - 1 };
  }
  if (first === undefined) return null;
  const start = Number(first);
  const end = Math.min(last === undefined ? size - 1 : Number(last), size - 1);
  if (last !== undefined && Number(last) < start) return null;
  return start >= size ? 'beyond_end' : { start, end };
}

/** Kinds of files that binary fields often have. `at`: index of the signature. */
const SIGNATURES: readonly { mediaType: string; extension: string; signature: string; at?: number }[] = [
  { mediaType: 'image/png', extension: 'png', signature: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', extension: 'jpg', signature: '\xff\xd8\xff' },
  { mediaType: 'image/gif', extension: 'gif', signature: 'GIF8' },
  { mediaType: 'image/webp', extension: 'webp', signature: 'WEBP', at: 8 },
  { mediaType: 'image/svg+xml', extension: 'svg', signature: '<svg' },
  { mediaType: 'application/pdf', extension: 'pdf', signature: '%PDF-' },
];

/** Number of first bytes that are enough to find the type. */
export const SIGNATURE_BYTES = 12;

/**
 * Finds the media type of a file by its first bytes, for fields that do not state it, such as images. Null if the type
 * is unknown.
 */
export function findMediaType(bytes: Uint8Array): { mediaType: string; extension: string } | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SIGNATURE_BYTES));
  const start = text.toString('latin1');
  return SIGNATURES.find(({ signature, at = 0 }) => start.startsWith(signature, at)) ?? null;
}
