/**
 * The headers of a downloaded file. Names and media types come from records, which any user of Odoo may have written.
 * Pure.
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
