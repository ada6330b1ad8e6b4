import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { readDocument } from './document.ts';
import { findHalfSurrogate } from './half-surrogate.ts';
import { locate } from './locate.ts';

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
