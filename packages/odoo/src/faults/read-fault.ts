/**
 * Parses a fault: `{code, message, data}`, or the body of a `/json/2` error. The parts that are used are a few
 * kilobytes. A longer fault may repeat a value of the call. Only the used parts are parsed, because parsing all of it
 * would delay other calls.
 */
import { type JsonSpan, readMembers } from '@erp-proxy/json';

/** A fault up to this length in bytes is parsed completely, as is each member of a longer one. */
const BYTES_MAX = 131_072;
/**
 * Bytes of a text that are parsed. Even with six bytes per character, the parsed text is longer than the part that is
 * passed on, so that no part of a secret that was cut is passed on.
 */
const TEXT_BYTES_MAX = 1_048_576;
const MEMBERS_MAX = 64;
/**
 * Maximum number of bytes by which a cut is moved. A UTF-8 character or JSON escape that the cut may split is shorter.
 */
const CUT_BYTES = 8;

/** `span` must be valid JSON. */
export function parseFault(bytes: Uint8Array, span: JsonSpan): unknown {
  if (span.end - span.start <= BYTES_MAX) return JSON.parse(decode(bytes, span.start, span.end));
  if (span.kind !== 'object') return null;
  const members = readMembers(bytes, span, MEMBERS_MAX);
  return Object.fromEntries(members.map(({ name, value }) => [name, parseMember(bytes, name, value)]));
}

function parseMember(bytes: Uint8Array, name: string, value: JsonSpan): unknown {
  if (name === 'data' || value.end - value.start <= BYTES_MAX) return parseFault(bytes, value);
  if (value.kind !== 'string') return null;
  if (value.end - value.start <= TEXT_BYTES_MAX) return JSON.parse(decode(bytes, value.start, value.end));
  // The end of a traceback names the exception and its place. Its first line is not a frame.
  return name === 'debug' ? parseEnd(bytes, value) : parseStart(bytes, value);
}

function parseStart(bytes: Uint8Array, { start }: JsonSpan): string {
  for (let cut = 0; cut < CUT_BYTES; cut++) {
    const text = tryParse(`${decode(bytes, start, start + TEXT_BYTES_MAX - cut)}"`);
    if (text !== null) return text;
  }
  return '';
}

function parseEnd(bytes: Uint8Array, { end }: JsonSpan): string {
  for (let cut = 0; cut < CUT_BYTES; cut++) {
    const text = tryParse(`"${decode(bytes, end - TEXT_BYTES_MAX + cut, end)}`);
    if (text !== null) return text;
  }
  return '';
}

function tryParse(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}
