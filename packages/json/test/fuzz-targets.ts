/** Fuzzes the reader of JSON: it must find in the bytes what JSON.parse finds. */
import { isDeepStrictEqual } from 'node:util';
import type { FuzzTarget } from '../../wire/test/fuzz/fuzz.ts';
import {
  DuplicateMemberError,
  decodeString,
  decodeStringParts,
  findHalfSurrogate,
  type JsonSpan,
  JsonSyntaxError,
  joinParts,
  readDocument,
  readElements,
  readInteger,
  readMembers,
  readMembersInSlices,
  readValue,
  removeMembers,
  setMembers,
  skipValue,
  skipValueInSlices,
} from '../src/index.ts';

const SLICE_BYTES = 3;
/** Up to this number, integers are exact. */
const EXACT_MAX = 1e15;

const DOCUMENTS: FuzzTarget = {
  name: 'document',
  seeds: [
    '{"a":[1,-2.5e3,"x\\u00e9\\n",true,null,{}],"b":{"a":""}}',
    '[0,[],"\\ud83d\\ude00"] ',
    '"\xc3\xa9"',
  ],
  words: [
    ...'{}[],:" \n\\0-.e',
    '""',
    '"a"',
    '"a":',
    'null',
    'true',
    'false',
    '\\u',
    '\\ud83d',
    '\\ude00',
    '\\u0061',
    '\\"',
    '1e999',
    '12345678901234567890',
    '\xef\xbb\xbf',
    '\xf0\x9f\x98\x80',
    '\xc3',
    '['.repeat(300),
  ],
  run(input) {
    const expected = parse(input);
    let root: JsonSpan;
    try {
      root = readDocument(input).root;
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      if (expected !== undefined) throw new Error('refuses what JSON.parse reads', { cause: error });
      return ['no JSON'];
    }
    if (expected === undefined) throw new Error('reads what JSON.parse refuses');
    checkValue(input, root, expected.value);
    return [root.kind, `${checkDuplicates(input, expected.value)}`];
  },
};

function parse(input: Buffer): { value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input);
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Compares a value, and all values in it, with what JSON.parse has read. */
function checkValue(bytes: Buffer, span: JsonSpan, expected: unknown): void {
  expectEqual('skipValue', skipValue(bytes, span.start), span.end);
  expectEqual('skipValueInSlices', runOut(skipValueInSlices(bytes, span.start, SLICE_BYTES)), span.end);
  switch (span.kind) {
    case 'string':
      expectEqual('decodeString', decodeString(bytes, span), expected);
      expectEqual('decodeStringParts', [...decodeStringParts(bytes, span, SLICE_BYTES)].join(''), expected);
      expectEqual(
        'findHalfSurrogate',
        findHalfSurrogate(bytes, span) === null,
        (expected as string).isWellFormed(),
      );
      break;
    case 'number':
      checkInteger(readInteger(bytes, span), expected as number);
      break;
    case 'array':
      checkElements(bytes, span, expected as unknown[]);
      break;
    case 'object':
      checkMembers(bytes, span, expected as Record<string, unknown>);
      break;
    default:
      expectEqual('kind', span.kind, String(expected));
  }
}

function checkInteger(found: number | bigint | null, expected: number): void {
  if (found !== null) expectEqual('readInteger', Number(found), expected === 0 ? 0 : expected);
  else if (Number.isInteger(expected) && Math.abs(expected) < EXACT_MAX && expected !== 0)
    throw new Error(`${expected} is read as no integer`);
}

function checkElements(bytes: Buffer, span: JsonSpan, expected: unknown[]): void {
  let count = 0;
  readElements(bytes, span, (element) => {
    checkValue(bytes, element, expected[count++]);
    return true;
  });
  expectEqual('number of elements', count, expected.length);
}

function checkMembers(bytes: Buffer, span: JsonSpan, expected: Record<string, unknown>): void {
  const members = readMembers(bytes, span);
  expectEqual(
    'readMembersInSlices',
    runOut(readMembersInSlices(bytes, span, Infinity, SLICE_BYTES)),
    members,
  );
  // Of members with one name, JSON.parse returns the last one.
  const last = new Map(members.map((member) => [member.name, member]));
  expectEqual('names', new Set(last.keys()), new Set(Object.keys(expected)));
  for (const { name, value } of last.values()) checkValue(bytes, value, expected[name]);
  const [first] = last.keys();
  if (first === undefined) return;
  const cut = JSON.parse(joinParts(bytes, removeMembers(span, members, new Set([first]))).toString());
  expectEqual(
    'removeMembers',
    cut,
    Object.fromEntries(Object.entries(expected).filter(([name]) => name !== first)),
  );
  if (last.size < members.length) return;
  const set = joinParts(
    bytes,
    setMembers(
      span,
      members,
      new Map([
        [first, ['7']],
        ['\0 new', ['8']],
      ]),
    ),
  );
  expectEqual('setMembers', JSON.parse(set.toString()), { ...expected, [first]: 7, '\0 new': 8 });
}

/** Whether the document names a member twice. */
function checkDuplicates(input: Buffer, expected: unknown): boolean {
  try {
    expectEqual('readValue', readValue(input), expected);
    return false;
  } catch (error) {
    if (!(error instanceof DuplicateMemberError)) throw error;
    return true;
  }
}

function runOut<Value>(steps: Generator<undefined, Value, undefined>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) throw new Error(`${what} differs from JSON.parse`);
}

export const JSON_TARGETS: readonly FuzzTarget[] = [DOCUMENTS];
