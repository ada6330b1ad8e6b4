import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { expectCpuBelow } from '../../server/test/time.ts';
import { splitHeaderLines, trimBlanks } from './header-lines.ts';

/** Matches one line by the grammar of RFC 9112 section 5. */
const LINE = /([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\r\n/y;

function splitByLine(text: string): string[] | null {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    const [, name, value] = LINE.exec(text) ?? [];
    if (name === undefined || value === undefined) return null;
    parts.push(name.toLowerCase(), value);
  }
  return parts;
}

test('splits lines as their grammar says, and refuses all others', () => {
  const piece = fc.constantFrom(
    'a',
    'Content-Length',
    'x_1',
    ':',
    ' ',
    '\t',
    '12',
    '\r\n',
    '\r',
    '\n',
    '\0',
    '\xe9',
    '"',
    '\x7f',
  );
  const line = fc
    .tuple(
      fc.constantFrom('A', 'x-b', 'host'),
      fc.constantFrom('', ' ', '\t '),
      fc.constantFrom('', 'v', 'v: w\t', '\xff'),
    )
    .map(([name, blank, value]) => `${name}:${blank}${value}\r\n`);
  const text = fc
    .array(fc.oneof({ weight: 3, arbitrary: line }, piece), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (head) => {
      expect(splitHeaderLines(head, 0)).toEqual(splitByLine(head));
    }),
    { numRuns: countCases(3000) },
  );
});

test('begins where it is told to, and finds no lines in an empty text', () => {
  expect(splitHeaderLines('GET / HTTP/1.1\r\nA: 1\r\n', 16)).toEqual(['a', '1']);
  expect(splitHeaderLines('', 0)).toEqual([]);
});

test.each(['a:', 'a: b\r\n', 'a', ' '])(
  'refuses a long text in time that grows with its length only: %j',
  async (piece) => {
    const [short, long] = [4000, 64_000].map((count) => `a:${piece.repeat(count)}\0`) as [string, string];
    const refuse = (text: string) => expect(splitHeaderLines(text, 0)).toBeNull();
    const refuseShort = () => {
      for (let time = 0; time < 16; time++) refuse(short);
    };
    // A match with backtracking would take 16 times as long.
    await expectCpuBelow(4, () => refuse(long), refuseShort);
  },
);

test('removes only spaces and tabs', () => {
  expect(trimBlanks(' \t a b\xa0\t')).toBe('a b\xa0');
});
