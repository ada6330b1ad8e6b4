import { expect, test } from 'vitest';
import { readModelNames } from './model-names.ts';

test.each<[string, string[] | null]>([
  ['[{"id": 2, "model": "res.partner"}, {"id": 3, "model": "sale.order"}]', ['res.partner', 'sale.order']],
  ['[{"id": 2}, {"model": false}, 7, {"model": "a\\u002eb"}]', ['a.b']],
  ['[]', []],
  ['{"model": "res.partner"}', null],
  ['[{"model": ', null],
  ['', null],
])('reads %s as %j', (result, names) => {
  expect(readModelNames(Buffer.from(result))).toEqual(names);
});
