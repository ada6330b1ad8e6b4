import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { type PrintedJson, printedDocument, printedObject } from '../test/printed-json.ts';
import { readDocument } from './document.ts';
import { readElements, readMembers } from './members.ts';
import { JsonDepthError, JsonSyntaxError } from './scan.ts';
import type { JsonSpan } from './span.ts';

describe('a document', () => {
  test('has the bytes of every part as they were written', () => {
    fc.assert(
      fc.property(printedDocument, ({ root, text }) => {
        const bytes = Buffer.from(text);
        expectSpan(bytes, readDocument(bytes).root, root);
      }),
      { numRuns: countCases(2000) },
    );
  });

  test('lists the members that a second pass finds, with the names that JSON.parse reads', () => {
    fc.assert(
      fc.property(printedObject, (object) => {
        const bytes = Buffer.from(object.text);
        const { root, members } = readDocument(bytes);
        expect(members).toEqual(readMembers(bytes, root));
        expect(members?.map((member) => member.name)).toEqual(
          object.members.map((member) => JSON.parse(member.nameText)),
        );
      }),
      { numRuns: countCases(1000) },
    );
  });

  test('may be as deep as the maximum, and no deeper', () => {
    fc.assert(
      fc.property(printedDocument, ({ root, text }) => {
        const bytes = Buffer.from(text);
        const depth = measureDepth(root);
        expect(readDocument(bytes, depth)).toEqual(readDocument(bytes));
        if (depth > 0) expect(() => readDocument(bytes, depth - 1)).toThrow(JsonDepthError);
      }),
      { numRuns: countCases(500) },
    );
  });

  test('is accepted after a mutation exactly when JSON.parse accepts it', () => {
    const cases = countCases(6000);
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(
        printedDocument,
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        ({ text }, mutations) => {
          const bytes = mutations.reduce(mutate, Buffer.from(text));
          if (expectSameDecision(bytes)) accepted++;
          else refused++;
        },
      ),
      { numRuns: cases },
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(cases / 12);
  });

  test('of random tokens is accepted exactly when JSON.parse accepts it', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        expectSameDecision(Buffer.concat(tokens.map((part) => Buffer.from(part, 'latin1'))));
      }),
      { numRuns: countCases(6000) },
    );
  });

  test('is checked in the same way at any position of a larger buffer', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 600 }),
        fc.nat(7),
        fc.constantFrom('', '\u0001', '\u001f', '\n', '\\', '\\"', '"', '\u007f', 'é'),
        fc.integer({ min: 0, max: 20 }),
        (before, offset, special, behind) => {
          const text = Buffer.from(`"${'a'.repeat(before)}${special}${'a'.repeat(behind)}"`);
          const memory = Buffer.alloc(text.length + 24, '"');
          memory.set(text, offset);
          expectSameDecision(memory.subarray(offset, offset + text.length));
        },
      ),
      { numRuns: countCases(2000) },
    );
  });

  test('can be a million levels deep', () => {
    const levels = 1_000_000;
    const arrays = Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(readDocument(arrays)).toEqual({
      root: { kind: 'array', start: 0, end: 2 * levels },
      members: null,
    });
    expect(() => readDocument(arrays.subarray(0, levels))).toThrow(
      new JsonSyntaxError(levels, 'the text ends where a value is expected'),
    );
    const objects = Buffer.from(`${'{"a":['.repeat(1000)}1${']}'.repeat(1000)}`);
    expect(() => readDocument(objects, 1999)).toThrow(JsonDepthError);
    readDocument(objects, 2000);
    expect(() => readDocument(Buffer.from(`${'{"a":['.repeat(1000)}1${']]'.repeat(1000)}`))).toThrow(
      JsonSyntaxError,
    );
  });

  test('lists the members of its root if they are at most 64, and otherwise none', () => {
    const print = (count: number) =>
      Buffer.from(`{${Array.from({ length: count }, (_, index) => `"m${index}":{"n":${index}}`)}}`);
    expect(readDocument(print(64)).members).toHaveLength(64);
    expect(readDocument(print(65)).members).toBeNull();
    expect(readDocument(Buffer.from(' { } ')).members).toEqual([]);
    expect(readDocument(Buffer.from('[{"a":1}]')).members).toBeNull();
    expect(readDocument(Buffer.from('"a"')).members).toBeNull();
  });
});

describe('JSON by RFC 8259', () => {
  test.each([
    '-0',
    '0',
    '-0.0',
    '0e0',
    '1E+2',
    '1e-2',
    '1.0',
    '9223372036854775808',
    '1e1000000000',
    '0.1e01',
    '"\\ud800"',
    '"\\uDFFF\\uD800"',
    '"\\u0000"',
    '"\\/"',
    '"\u2028\u2029\u007f"',
    '"😀"',
    '""',
    '{"a":1,"a":2}',
    '{"":{}}',
    '[]',
    ' \t\r\n[ \t\r\n] \t\r\n',
    'true',
    'false',
    'null',
    '{"__proto__":1}',
  ])('accepts %j', (text) => {
    expect(expectSameDecision(Buffer.from(text))).toBe(true);
  });

  test.each([
    ['', 0],
    [' ', 1],
    ['01', 1],
    ['-01', 2],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.e1', 2],
    ['1e', 2],
    ['1e+', 3],
    ['-', 1],
    ['--1', 1],
    ['0x1', 1],
    ['NaN', 0],
    ['Infinity', 0],
    ['-Infinity', 1],
    ['nul', 3],
    ['nulL', 3],
    ['truefalse', 4],
    ['undefined', 0],
    ['"\n"', 1],
    ['"\u0000"', 1],
    ['"\u001f"', 1],
    ['"a', 2],
    ['"', 1],
    ['"\\', 2],
    ['"\\x41"', 2],
    ['"\\u12G4"', 5],
    ['"\\u12', 5],
    ['"\\U0041"', 2],
    ["'a'", 0],
    ['[1,]', 3],
    ['[,1]', 1],
    ['[1 2]', 3],
    ['[1', 2],
    [']', 0],
    ['[}', 1],
    ['{]', 1],
    ['[1}', 2],
    ['{"a":1]', 6],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['{"a"}', 4],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{a:1}', 1],
    ['{1:1}', 1],
    ['{"a":1 "b":2}', 7],
    ['1 2', 2],
    ['{} {}', 3],
    ['[]]', 2],
    ['// a\n1', 0],
    ['/**/1', 0],
    ['1 //', 2],
    ['\u00a01', 0],
    ['\f1', 0],
    ['\ufeff{}', 0],
    ['{}\u0000', 2],
  ])('refuses %j at byte %i', (text, offset) => {
    expectRefusalAt(Buffer.from(text), offset);
  });

  test.each([
    ['an overlong slash', '"\xc0\xaf"', 1],
    ['an overlong NUL of three bytes', '"a\xe0\x80\x80"', 2],
    ['a surrogate in UTF-8', '"\xed\xa0\x80"', 1],
    ['a code point beyond U+10FFFF', '"\xf4\x90\x80\x80"', 1],
    ['a lone continuation byte', '"\x80"', 1],
    ['a character that is cut off by the quote', '"\xe2\x82"', 1],
    ['a character that is cut off by the end', '"\xf0\x9f\x98', 1],
    ['Latin-1', '["na\xefve"]', 4],
    ['UTF-16', '\xff\xfe{\x00}\x00', 0],
    ['a fault behind a thousand good characters', `"${'\xc3\xa9'.repeat(1000)}\xff"`, 2001],
  ])('refuses %s', (_, latin1, offset) => {
    const bytes = Buffer.from(latin1, 'latin1');
    expectRefusalAt(bytes, offset);
    expect(() => readDocument(bytes)).toThrow(/not UTF-8/);
  });

  test('mentions a byte order mark in the error', () => {
    expect(() => readDocument(Buffer.from('\ufeff{}'))).toThrow(/byte 0: a byte order mark/);
  });

  test('never quotes the document in an error', () => {
    for (const text of ['{"api_key":"s3cret" x', '{"api_key":"s3cret\n"}', '[s3cret]', '"s3cret']) {
      const error = catchRefusal(Buffer.from(text));
      expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/s3c|api/);
    }
  });
});

const alphabet = [
  ...Buffer.from('{}[],:"\\/bfnrtu0123456789-+.eE truefalsn\n\t\r'),
  0x00,
  0x1f,
  0x7f,
  0x80,
  0xc3,
  0xa9,
  0xed,
  0xef,
  0xff,
];

interface Mutation {
  at: number;
  remove: number;
  insert: number[];
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(2 ** 31),
  remove: fc.nat(2),
  insert: fc.array(fc.oneof(fc.constantFrom(...alphabet), fc.nat(255)), { maxLength: 2 }),
});

function mutate(bytes: Buffer, { at, remove, insert }: Mutation): Buffer {
  const index = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, index), Buffer.from(insert), bytes.subarray(index + remove)]);
}

const token = fc.constantFrom(
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  ' ',
  '\n',
  '"',
  '"a"',
  '"a":',
  '""',
  '\\',
  '\\u00',
  'e9',
  '1',
  '0',
  '-',
  '.',
  'e',
  'E+',
  'true',
  'nul',
  'l',
  'null',
  '\x01',
  '\xc3',
  '\xa9',
  '\xef\xbb\xbf',
);

/** Expects the same decision as that of JSON.parse on the decoded text. Returns true if both accept the text. */
function expectSameDecision(bytes: Buffer): boolean {
  let isValid = true;
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    isValid = false;
  }
  if (isValid) {
    const { root } = readDocument(bytes);
    expect(bytes.toString('latin1', root.start, root.end)).toBe(
      bytes.toString('latin1').replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''),
    );
  } else {
    const { offset } = catchRefusal(bytes);
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThanOrEqual(bytes.length);
  }
  return isValid;
}

function expectRefusalAt(bytes: Buffer, offset: number): void {
  expect(expectSameDecision(bytes)).toBe(false);
  expect(catchRefusal(bytes).offset).toBe(offset);
  expect(isUtf8(bytes.subarray(0, offset))).toBe(true);
}

function catchRefusal(bytes: Buffer): JsonSyntaxError {
  try {
    readDocument(bytes);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(bytes.toString('latin1'))}`);
}

function expectSpan(bytes: Buffer, span: JsonSpan, printed: PrintedJson): void {
  expect(span.kind).toBe(printed.kind);
  expect(bytes.toString('utf8', span.start, span.end)).toBe(printed.text);
  if (span.kind === 'object') {
    const members = readMembers(bytes, span);
    expect(members).toHaveLength(printed.members.length);
    for (const [index, { nameText, value }] of printed.members.entries()) {
      const member = members[index]!;
      expect(member.name).toBe(JSON.parse(nameText));
      expect(bytes.toString('utf8', member.nameStart, member.nameStart + Buffer.byteLength(nameText))).toBe(
        nameText,
      );
      expectSpan(bytes, member.value, value);
    }
  }
  if (span.kind === 'array') {
    const elements: JsonSpan[] = [];
    readElements(bytes, span, (element) => {
      elements.push(element);
      return true;
    });
    expect(elements).toHaveLength(printed.elements.length);
    for (const [index, element] of printed.elements.entries()) expectSpan(bytes, elements[index]!, element);
  }
}

function measureDepth({ kind, members, elements }: PrintedJson): number {
  if (kind !== 'object' && kind !== 'array') return 0;
  return 1 + Math.max(0, ...elements.map(measureDepth), ...members.map(({ value }) => measureDepth(value)));
}
