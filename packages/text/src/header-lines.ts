/** Reads the header lines of a request or an answer (RFC 9112 section 5). Pure. */

/** Matches valid lines: no space before the colon, no folded lines, no control characters, and CR LF at each end. */
const HEADER_LINES = /(?:[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/y;

/**
 * Returns names in lower case and values in turn, from `start` to the end of the text; null if a line is not a header.
 * Checks all lines by one match, because a match for each line takes much longer.
 */
export function splitHeaderLines(text: string, start: number): string[] | null {
  HEADER_LINES.lastIndex = start;
  if (!HEADER_LINES.test(text)) return null;
  const parts: string[] = [];
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    parts.push(text.slice(at, colon).toLowerCase(), sliceTrimmed(text, colon + 1, end));
    at = end + 2;
  }
  return parts;
}

/** Removes spaces and tabs at both ends (RFC 9110 section 5.6.3). `String.trim` would remove more. */
export function trimBlanks(text: string): string {
  return sliceTrimmed(text, 0, text.length);
}

function sliceTrimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
