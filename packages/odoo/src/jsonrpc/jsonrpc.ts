/**
 * Builds requests to Odoo's `/jsonrpc` around the bytes of the caller, and classifies an answer by its first bytes.
 * Does no I/O, and never parses a value of the caller or of Odoo.
 */

/** The parts of one `execute_kw`. `params` and `keyword` are JSON in UTF-8 and are sent unchanged. */
export interface ExecuteKw {
  db: string;
  userId: number;
  apiKey: string;
  model: string;
  method: string;
  /** A JSON array: the positional arguments. */
  params: Uint8Array;
  /** A JSON object: the named arguments. */
  keyword: Uint8Array;
}

/** The `id` of every request to Odoo. It is constant, so that the first bytes of the answer are constant too. */
const UPSTREAM_ID = '1';

const BODY_START =
  '{"jsonrpc":"2.0","method":"call","params":{"service":"object","method":"execute_kw","args":[';
const BODY_END = `]},"id":${UPSTREAM_ID}}`;

/** The whole body of the request to `/jsonrpc`. */
export function buildExecuteKw(call: ExecuteKw): Uint8Array {
  // JSON.stringify escapes lone surrogates, on which Odoo fails with an HTML page (docs/odoo-facts.md#id-echo).
  const named = [call.db, call.userId, call.apiKey, call.model, call.method];
  const start = `${BODY_START}${JSON.stringify(named).slice(1, -1)},`;
  const startBytes = Buffer.byteLength(start);
  const keywordAt = startBytes + call.params.length + 1;
  const endAt = keywordAt + call.keyword.length;
  const body = Buffer.allocUnsafe(endAt + BODY_END.length);
  body.write(start, 0, 'utf8');
  body.set(call.params, startBytes);
  body[keywordAt - 1] = COMMA;
  body.set(call.keyword, keywordAt);
  body.write(BODY_END, endAt, 'latin1');
  return body;
}

/** What the first bytes of an answer show. */
export type ResultHead =
  /** A success. Its value begins at `resultStart`. */
  | { kind: 'result'; resultStart: number }
  /** An error. The answer must be read completely. */
  | { kind: 'error' }
  /** A success without a value: the method returned None (docs/odoo-facts.md#none-result). */
  | { kind: 'empty' }
  /** More bytes are needed. */
  | { kind: 'more' }
  /** Not the beginning that Odoo prints. The answer must be read completely and parsed. */
  | { kind: 'other' };

const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const CLOSING_BRACE = 0x7d;

const ENVELOPE = Buffer.from(`{"jsonrpc":"2.0","id":${UPSTREAM_ID}`);
const RESULT = Buffer.from('"result":');
const ERROR = Buffer.from('"error":');

const ERROR_HEAD = Object.freeze({ kind: 'error' }) satisfies ResultHead;
const EMPTY_HEAD = Object.freeze({ kind: 'empty' }) satisfies ResultHead;
const MORE_HEAD = Object.freeze({ kind: 'more' }) satisfies ResultHead;
const OTHER_HEAD = Object.freeze({ kind: 'other' }) satisfies ResultHead;

/**
 * Classifies an answer by its first bytes. Every recorded answer has the order jsonrpc, id, result or error
 * (docs/odoo-facts.md#json-spacing). One space may follow each colon and comma, as Python prints it.
 */
export function matchResultHead(bytes: Uint8Array): ResultHead {
  const idEnd = matchCompact(bytes, 0, ENVELOPE);
  if (idEnd === MISMATCH) return OTHER_HEAD;
  if (idEnd === SHORT || idEnd === bytes.length) return MORE_HEAD;
  if (bytes[idEnd] === CLOSING_BRACE) return isWhitespaceFrom(bytes, idEnd + 1) ? EMPTY_HEAD : OTHER_HEAD;
  if (bytes[idEnd] !== COMMA) return OTHER_HEAD;
  const memberAt = bytes[idEnd + 1] === SPACE ? idEnd + 2 : idEnd + 1;
  const resultStart = matchCompact(bytes, memberAt, RESULT);
  if (resultStart >= 0) return { kind: 'result', resultStart };
  if (resultStart === SHORT) return MORE_HEAD;
  const errorStart = matchCompact(bytes, memberAt, ERROR);
  if (errorStart >= 0) return ERROR_HEAD;
  return errorStart === SHORT ? MORE_HEAD : OTHER_HEAD;
}

const MISMATCH = -1;
const SHORT = -2;

/** The end of the text that equals `compact`, except for one optional space after each colon and comma. */
function matchCompact(bytes: Uint8Array, start: number, compact: Uint8Array): number {
  let at = start;
  for (let i = 0; i < compact.length; i++) {
    if (at >= bytes.length) return SHORT;
    const expected = compact[i];
    if (bytes[at] !== expected) return MISMATCH;
    at++;
    if (expected === COLON || expected === COMMA) {
      if (at >= bytes.length) return SHORT;
      if (bytes[at] === SPACE) at++;
    }
  }
  return at;
}

function isWhitespaceFrom(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
