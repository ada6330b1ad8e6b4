/** Finds the media type of a file by its first bytes, for fields that do not state it, such as images. Pure. */

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

/** Null if the type is unknown. */
export function findMediaType(bytes: Uint8Array): { mediaType: string; extension: string } | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SIGNATURE_BYTES));
  const start = text.toString('latin1');
  return SIGNATURES.find(({ signature, at = 0 }) => start.startsWith(signature, at)) ?? null;
}
