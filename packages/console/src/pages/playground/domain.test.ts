import type { Json } from '@erp-proxy/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DomainNode, parseDomain, printDomain } from './domain.ts';

/** True if a record of three flags matches, by Odoo's rules of prefix notation. */
function matches(domain: Json[], record: Record<string, boolean>): boolean {
  const stack: boolean[] = [];
  for (const item of domain.toReversed()) {
    if (item === '!') stack.push(!stack.pop());
    else if (item === '&' || item === '|') {
      const first = stack.pop() ?? true;
      const second = stack.pop() ?? true;
      stack.push(item === '&' ? first && second : first || second);
    } else stack.push(record[String((item as Json[])[0])] === true);
  }
  return stack.every(Boolean);
}

const RECORDS = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  a: (bits & 1) > 0,
  b: (bits & 2) > 0,
  c: (bits & 4) > 0,
}));

const leaf = fc.constantFrom('a', 'b', 'c').map((name): Json[] => [[name, '=', true]]);
const { expression } = fc.letrec<{ expression: Json[] }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    tie('expression').map((inner) => ['!', ...inner]),
    fc
      .tuple(fc.constantFrom('&', '|'), tie('expression'), tie('expression'))
      .map(([operator, first, second]) => [operator, ...first, ...second]),
  ),
}));

test('a domain that was read and printed selects the same records, and is stable', () => {
  fc.assert(
    fc.property(fc.array(expression, { maxLength: 4 }), (parts) => {
      const domain = parts.flat();
      const root = parseDomain(JSON.stringify(domain));
      if (root === null) throw new Error('the domain was not read');
      const printed = printDomain(root);
      for (const record of RECORDS) expect(matches(printed, record)).toBe(matches(domain, record));
      const again = parseDomain(JSON.stringify(printed));
      expect(again && printDomain(again)).toEqual(printed);
    }),
  );
});

test.each([
  ['', []],
  ['[]', []],
  [
    '[["name", "ilike", "a"], ["id", ">", 3]]',
    [
      ['name', 'ilike', 'a'],
      ['id', '>', 3],
    ],
  ],
])('reads %s', (text, printed) => {
  const root = parseDomain(text);
  expect(root && printDomain(root)).toEqual(printed);
});

test.each(['[', '{}', '["&", ["a", "=", 1]]', '["!"]', '[["a", "="]]', '[1]', '[[1, "=", 1]]', 'null'])(
  '%s is left to the JSON editor',
  (text) => {
    expect(parseDomain(text)).toBeNull();
  },
);

test('a group without items has no effect', () => {
  const empty: DomainNode = { kind: 'group', match: 'any', items: [] };
  const condition: DomainNode = { kind: 'condition', field: 'a', operator: '=', value: 1 };
  expect(printDomain({ kind: 'group', match: 'all', items: [empty, condition] })).toEqual([['a', '=', 1]]);
  expect(printDomain({ kind: 'group', match: 'none', items: [empty] })).toEqual([]);
});
