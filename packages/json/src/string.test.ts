import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { printedJson } from '../test/printed-json.ts';
import { readDocument } from './document.ts';
import { locate } from './locate.ts';
import { decodeString, decodeStringParts, findHalfSurrogate } from './string.ts';

describe('a decoded string', () => {
  test('is what JSON.parse reads', () => {
    const strings = printedJson.filter(({ kind }) => kind === 'string');
    fc.assert(
      fc.property(strings, fc.boolean(), ({ text }, isBuffer) => {
        const memory = Buffer.from(`  ${text}`);
        const bytes = isBuffer ? memory.subarray(1) : new Uint8Array(memory).subarray(1);
        expect(decodeString(bytes, readDocument(bytes).root)).toBe(JSON.parse(text));
      }),
      { numRuns: countCases(500) },
    );
  });

  test('keeps escaped lone surrogates', () => {
    const bytes = Buffer.from('"\\ud800x"');
    expect(decodeString(bytes, { start: 0, end: bytes.length })).toBe('\ud800x');
  });
});

describe('a string in parts', () => {
  test('is the decoded string, wherever it is divided', () => {
    const unit = fc.constantFrom(
      'a',
      'é',
      '€',
      '😀',
      '"',
      '\\',
      '\n',
      '\ud83d',
      '\ude00',
      '\ud83d\ud83d\ude00',
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        (units, partBytes, isEscaped) => {
          const text = JSON.stringify(units.join(''));
          const escaped = text.replaceAll(
            /[^\x20-\x7e]/g,
            (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
          );
          const bytes = Buffer.from(isEscaped ? escaped : text);
          const string = { start: 0, end: bytes.length };
          const parts = [...decodeStringParts(bytes, string, partBytes)];
          expect(parts.join('')).toBe(decodeString(bytes, string));
          // Half of a surrogate pair could not be encoded in UTF-8.
          const isWhole = decodeString(bytes, string).isWellFormed();
          expect(parts.every((part) => part.isWellFormed())).toBe(isWhole);
          expect(Math.max(0, ...parts.map((part) => part.length))).toBeLessThanOrEqual(partBytes + 1);
        },
      ),
      { numRuns: countCases(1000) },
    );
  });
});

function find(text: string): string | null {
  const bytes = Buffer.from(text);
  const { root } = readDocument(bytes);
  const at = findHalfSurrogate(bytes, root);
  return at === null ? null : locate(bytes, root, at, 'x');
}

test.each([
  ['"\\ud83d"', 'x'],
  ['"\\ude00"', 'x'],
  ['"\\uDE00\\uD83D"', 'x'],
  ['["a", {"b": [1, "\\ud83d\\ud83d\\ude00"]}]', 'x[1].b[1]'],
  ['{"a": {"\\ud83d": 1}}', 'x.a'],
  ['{"a": 1, "b" : {"c": "\\\\\\ud83d"}}', 'x.b.c'],
  ['"\\ud83d\\ude00"', null],
  ['"\\uD83D\\uDE00 \\u00e9"', null],
  ['"\\\\ud83d"', null],
  ['{"\\\\": "\\\\\\\\uD83d"}', null],
])('%s', (text, path) => {
  expect(find(text)).toBe(path);
});

test('a text is found exactly if it is not well formed, and its place is told', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.array(fc.oneof(fc.constantFrom('\ud83d', '\ude00', '\\', '"', 'u', '\\ud8', '😀'), fc.string())),
      (value, parts) => {
        const text = parts.join('');
        const bytes = Buffer.from(JSON.stringify([value, { a: text }]));
        const { root } = readDocument(bytes);
        const whole = JSON.stringify(value);
        fc.pre(JSON.parse(whole) !== undefined && !/\\ud/.test(whole));
        const at = findHalfSurrogate(bytes, root);
        expect(at === null).toBe(text.isWellFormed());
        if (at !== null) expect(locate(bytes, root, at, 'x')).toBe('x[1].a');
      },
    ),
    { numRuns: countCases(300) },
  );
});
