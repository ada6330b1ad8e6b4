/**
 * Parses the head of an HTTP/1.x answer (RFC 9112 sections 4 to 6). Pure and strict: a head that two parsers could read
 * differently is refused, since a caller chooses the server.
 */

import { splitHeaderLines, trimBlanks } from '@erp-proxy/text';

/** Header names in lower case. The value is a list if the header occurs several times. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

export interface AnswerHead {
  status: number;
  headers: AnswerHeaders;
  /** How the body ends: after this number of bytes, with the last chunk, or with the connection. */
  framing: number | 'chunked' | 'connection';
  /** The connection must not be used for another request. */
  isLast: boolean;
  /** Milliseconds that the server keeps the idle connection; null if it does not state it. */
  keptMs: number | null;
}

/** The answer is not HTTP, or is ambiguous. */
export class AnswerSyntaxError extends Error {
  override readonly name = 'AnswerSyntaxError';
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
/** Exact as a number. */
const CONTENT_LENGTH = /^\d{1,15}$/;

/** `text`: the head in latin1, with the line break of its last line and without the empty line. */
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
      // RFC 9112 section 6.1: a proxy that does not know chunks may have passed them on in HTTP/1.0.
      (isOld && (framing === 'chunked' || !connection.includes('keep-alive'))),
    keptMs: readKeptMs(headers['keep-alive']),
  };
}

function readHeaders(text: string, start: number): AnswerHeaders {
  const lines = splitHeaderLines(text, start);
  if (lines === null) throw new AnswerSyntaxError("a line of the answer's head is not a header");
  const headers: AnswerHeaders = Object.create(null);
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] as string;
    const value = lines[index + 1] as string;
    const earlier = headers[name];
    // A server may send thousands of lines with one name.
    if (Array.isArray(earlier)) earlier.push(value);
    else headers[name] = earlier === undefined ? value : [earlier, value];
  }
  return headers;
}

/** RFC 9112 section 6.3, without the repairs that it permits: they make response smuggling possible. */
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
