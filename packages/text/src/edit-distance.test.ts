import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { expectCpuBelow } from '../../server/test/time.ts';
import { createEditDistance } from './edit-distance.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['name', 'name', 0],
  ['nmae', 'name', 1],
  ['kitten', 'sitting', 3],
  // A letter between two swapped ones: swap and insertion cannot be combined.
  ['ba', 'axb', 3],
])('from "%s" to "%s" there are %i edits', (left, right, edits) => {
  expect(createEditDistance(left)(right, Number.POSITIVE_INFINITY)).toBe(edits);
});

/**
 * Few different letters, so that texts have swaps and repetitions in common. The lengths are around those of one and
 * two integers.
 */
const letters = fc.constantFrom('a', 'b', 'c', 'é', '名');
const text = fc.oneof(
  fc.string({ unit: letters, maxLength: 12 }),
  fc.string({ unit: letters, minLength: 28, maxLength: 36 }),
  fc.string({ unit: letters, minLength: 60, maxLength: 100 }),
);
/** Two unrelated texts, or two of which one was made from the other by few edits. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc
    .tuple(text, fc.array(fc.tuple(fc.nat(), fc.constantFrom('swap', 'drop', 'add')), { maxLength: 8 }))
    .map(([left, edits]) => [left, edits.reduce(edit, left)] as [string, string]),
);

function edit(from: string, [position, kind]: [number, string]): string {
  const at = from === '' ? 0 : position % from.length;
  const [before, first = '', second = '', after] = [
    from.slice(0, at),
    from[at],
    from[at + 1],
    from.slice(at + 2),
  ];
  if (kind === 'drop') return before + second + after;
  return before + (kind === 'swap' ? second + first : `${first}c${second}`) + after;
}

test('is that of the table of all prefixes', () => {
  fc.assert(
    fc.property(pair, ([left, right]) => {
      expect(createEditDistance(left)(right, Number.POSITIVE_INFINITY)).toBe(fillTable(left, right));
    }),
    { numRuns: countCases(3000) },
  );
});

test('is exact below the limit, and else a number from the limit on', () => {
  fc.assert(
    fc.property(pair, fc.nat({ max: 40 }), ([left, right], limit) => {
      const [edits, measured] = [fillTable(left, right), createEditDistance(left)(right, limit)];
      if (edits < limit) expect(measured).toBe(edits);
      else expect(measured).toBeGreaterThanOrEqual(limit);
    }),
    { numRuns: countCases(3000) },
  );
});

test('is the same for each of many texts, whichever were compared before', () => {
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 5 }), (left, others) => {
      const measure = createEditDistance(left);
      const measured = others.map((other) => measure(other, Number.POSITIVE_INFINITY));
      expect(measured).toEqual(others.map((other) => fillTable(left, other)));
    }),
    { numRuns: countCases(500) },
  );
});

test('costs less than a quarter of the table for the longest names', async () => {
  const name = 'invoice_partner_delivery_address_currency_company_total_amount_x';
  const others = Array.from({ length: 500 }, (_, index) => `${name.slice(31)}_${name.slice(0, 28)}${index}`);
  const measure = createEditDistance(name);
  const compare = () => others.map((other) => measure(other, Number.POSITIVE_INFINITY));
  const fillTables = () => others.map((other) => fillTable(name, other));
  await expectCpuBelow(1 / 4, compare, fillTables);
});

/** Computes the distance by its definition, from the distances of all prefixes. */
function fillTable(left: string, right: string): number {
  const width = right.length + 1;
  let beforePrevious = new Int32Array(width);
  let previous = Int32Array.from({ length: width }, (_, index) => index);
  let current = new Int32Array(width);
  for (let i = 1; i <= left.length; i++) {
    current[0] = i;
    for (let j = 1; j < width; j++) {
      const isSame = left.charCodeAt(i - 1) === right.charCodeAt(j - 1);
      let edits = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (isSame ? 0 : 1));
      const isSwapped =
        i > 1 &&
        j > 1 &&
        left.charCodeAt(i - 1) === right.charCodeAt(j - 2) &&
        left.charCodeAt(i - 2) === right.charCodeAt(j - 1);
      if (isSwapped) edits = Math.min(edits, beforePrevious[j - 2]! + 1);
      current[j] = edits;
    }
    [beforePrevious, previous, current] = [previous, current, beforePrevious];
  }
  return previous[right.length]!;
}
