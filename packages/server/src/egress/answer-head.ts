/**
 * Reads the head of an HTTP/1.x answer (RFC 9112 sections 4 to 6): pure, and strict. What two readers could take for two
 * different answers is refused, since whoever answers is named by a caller.
 */

/** Header names in lower case; a list where a header came several times. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

export interface AnswerHead {
  status: number;
  headers: AnswerHeaders;
  /** How the body ends: after so many bytes, by chunks, or with the connection. */
  framing: number | 'chunked' | 'connection';
  /** The connection serves no other request after this one. */
  isLast: boolean;
  /** How long the server keeps the connection, where it says so. */
  keptMs: number | null;
}

/** An answer that is no HTTP, or none that can be told from another one. */
export class AnswerSyntaxError extends Error {
  override readonly name = 'AnswerSyntaxError';
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
/** No space before the colon, no folded lines, no control characters, no bare CR or LF. */
const HEADER_LINE = /([!#$%&'*+.^_`|~\w-]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y;
/** Ten billion bytes and more, yet exact as a number. */
const CONTENT_LENGTH = /^\d{1,15}$/;

/** `text` is the head in latin1 with the line break of its last line, without the empty line. */
export function readAnswerHead(text: string): AnswerHead {
  const statusLine = STATUS_LINE.exec(text);
  if (statusLine === null)
    throw new AnswerSyntaxError('the answer does not begin with an HTTP/1 status line');
  const status = Number(statusLine[2]);
  const headers = readHeaders(text, statusLine[0].length);
  const connection = listTokens(headers['connection']);
  const framing = readFraming(status, headers);
  const isOld = statusLine[1] === '0';
  return {
    status,
    headers,
    framing,
    isLast:
      framing === 'connection' ||
      connection.includes('close') ||
      // RFC 9112 6.1: chunks in HTTP/1.0 may be the work of a proxy that did not understand them.
      (isOld && (framing === 'chunked' || !connection.includes('keep-alive'))),
    keptMs: readKeptMs(headers['keep-alive']),
  };
}

function readHeaders(text: string, start: number): AnswerHeaders {
  const headers: AnswerHeaders = Object.create(null);
  HEADER_LINE.lastIndex = start;
  while (HEADER_LINE.lastIndex < text.length) {
    const line = HEADER_LINE.exec(text);
    if (line === null) throw new AnswerSyntaxError("a line of the answer's head is not a header");
    const name = (line[1] as string).toLowerCase();
    const value = trimBlanks(line[2] as string);
    const known = headers[name];
    headers[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value];
  }
  return headers;
}

/** RFC 9112 section 6.3. What it lets a client mend is refused: it is how answers are smuggled. */
function readFraming(status: number, headers: AnswerHeaders): AnswerHead['framing'] {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (length !== undefined && coding !== undefined)
    throw new AnswerSyntaxError('the answer has both content-length and transfer-encoding');
  if (length !== undefined && (typeof length !== 'string' || !CONTENT_LENGTH.test(length)))
    throw new AnswerSyntaxError("the answer's content-length is not one number");
  if (coding !== undefined && String(coding).toLowerCase() !== 'chunked')
    throw new AnswerSyntaxError("the answer's transfer-encoding is not chunked");
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return 'chunked';
  return length === undefined ? 'connection' : Number(length);
}

function readKeptMs(header: AnswerHeaders[string]): number | null {
  const seconds = header === undefined ? null : /\btimeout=(\d{1,9})\b/i.exec(String(header));
  return seconds === null ? null : Number(seconds[1]) * 1000;
}

function listTokens(header: AnswerHeaders[string]): string[] {
  if (header === undefined) return [];
  return String(header).toLowerCase().split(',').map(trimBlanks);
}

/** RFC 9110 section 5.6.3: of what String.trim() takes away, only space and tab are blanks here. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
