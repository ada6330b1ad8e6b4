/** Handles conditional requests (RFC 9110 section 13). */

/** True if `if-none-match` contains this ETag, weak or strong (RFC 9110 section 13.1.2). */
export function hasTag(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
