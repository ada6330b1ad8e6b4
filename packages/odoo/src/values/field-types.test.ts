/** Tests what is read from `fields_get` about fields that the server computes. */
import { expect, test } from 'vitest';
import { countNames, readFieldTypes } from './field-types.ts';

function listSources(fields: Record<string, object>) {
  const types = readFieldTypes(Buffer.from(JSON.stringify(fields)));
  return Object.fromEntries(
    [...types!].map(([name, { computedFrom, isStored }]) => [
      name,
      isStored ? [...computedFrom, 'stored'] : computedFrom,
    ]),
  );
}

test('a field depends on what it declares, and a stored one is told from others', () => {
  const text = { type: 'char', depends: ['code', 'partner_id.ref'] };
  const paths = [['code'], ['partner_id', 'ref']];
  expect(
    listSources({
      x_computed: { ...text, store: false, readonly: true },
      // A field with an inverse, such as `inventory_quantity` of `stock.quant`.
      x_inverse: { ...text, store: false, readonly: false },
      x_stored: { ...text, store: true, readonly: true },
    }),
  ).toEqual({ x_computed: paths, x_inverse: paths, x_stored: [...paths, 'stored'] });
});

test.each([
  // 14 to 16 store the display name of a partner.
  { store: true, readonly: true },
  // The display name of a task can be written from 17 on.
  { store: false, readonly: false },
])('a display name depends on what it declares: %j', (attributes) => {
  const fields = { display_name: { type: 'char', depends: ['x_code'], ...attributes } };
  expect(listSources(fields)).toEqual({ display_name: [['x_code']] });
});

test('the names on which fields depend count, because a server can declare many short ones', () => {
  const count = (depends: readonly string[]) => {
    const json = JSON.stringify({ x: { type: 'char', store: false, depends } });
    return countNames(readFieldTypes(Buffer.from(json))!);
  };
  expect(count([])).toBe(1);
  expect(count(['a', 'b.c'])).toBe(4);
  expect(count(Array(1000).fill('a'))).toBe(1001);
});

test('a model whose fields depend on very many others is not described', () => {
  const describeModel = (fields: number) => {
    const one = { type: 'char', store: false, depends: Array(100).fill('a') };
    const all = Object.fromEntries(Array.from({ length: fields }, (_, n) => [`x${n}`, one]));
    return readFieldTypes(Buffer.from(JSON.stringify(all)));
  };
  expect(describeModel(100)?.size).toBe(100);
  expect(describeModel(101)).toBeNull();
});
