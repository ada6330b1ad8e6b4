import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFields } from './fields.ts';
import { searchByParts, searchByText } from './search-by-text.ts';

/** The result of `fields_get` for the fields that a text is compared with, by version and model, from real servers. */
const RECORDED: Record<string, Record<string, Record<string, object>>> = JSON.parse(
  readFileSync(new URL('../../server/test/data/text-fields-14-to-19.json', import.meta.url), 'utf8'),
);
const CASES = Object.entries(RECORDED).flatMap(([version, models]) =>
  Object.keys(models).map((model) => [version, model] as const),
);

const ALL = {
  listPaths: (field: string) => [field],
  mayCompareVariants: () => true,
  mayCompareNames: true,
  ids: [] as number[],
};

function search(version: string, model: string, text: string, more: Partial<typeof ALL> = {}) {
  const described = RECORDED[version]![model]!;
  const domain = searchByText({ ...ALL, ...more, fields: readFields(described), text })!;
  const conditions = domain.filter((part) => Array.isArray(part));
  // Each operator joins two operands.
  expect(domain).toHaveLength(2 * conditions.length - 1);
  return { domain, conditions, described };
}

test.each(CASES)(
  'Odoo %s: a text is compared with no field of %s that cannot be searched',
  (version, model) => {
    const { conditions, described } = search(version, model, '[E-COM11] Cabinet (Steel)', { ids: [7] });
    expect(conditions.length).toBeGreaterThan(1);
    for (const [path] of conditions) {
      if (path === 'id' || path.includes('.')) continue;
      expect(described[path], path).toMatchObject({ searchable: true });
    }
  },
);

test.each(Object.keys(RECORDED))('Odoo %s: names as the tools show them', (version) => {
  const has = (model: string, text: string, part: unknown) =>
    expect(search(version, model, text).conditions, text).toContainEqual(part);
  has('product.product', '[E-COM11] Cabinet with Doors', ['default_code', '=', 'E-COM11']);
  has('account.move', 'S00025', ['invoice_origin', 'ilike', 'S00025']);
  has('sale.order', 'S00025', ['name', 'ilike', 'S00025']);
  has('stock.quant', 'Large Cabinet', ['product_id', 'ilike', 'Large Cabinet']);
  const company = 'Acme Corporation, Addison Olson';
  has('res.partner', company, [Number(version) < 17 ? 'display_name' : 'complete_name', 'ilike', company]);
  const { domain } = search(version, 'stock.quant', 'Conference Chair (Steel, Black)');
  const values = 'product_id.product_template_attribute_value_ids.name';
  const variant = [
    '&',
    '&',
    ['product_id.name', 'ilike', 'Conference Chair'],
    [values, '=ilike', 'Steel'],
    [values, '=ilike', 'Black'],
  ];
  expect(domain.slice(-5)).toEqual(variant);
});

test('an account is found by its code and name', () => {
  const char = { type: 'char', store: true };
  const fields = readFields({ code: char, name: char });
  const domain = searchByText({ ...ALL, fields, text: '400000 Product Sales' })!;
  expect(domain.slice(-3)).toEqual(['&', ['code', '=ilike', '400000'], ['name', 'ilike', 'Product Sales']]);
});

test('no letter of a text is a wild letter, and none can break the pattern', () => {
  const char = { type: 'char', store: true };
  const fields = readFields({
    code: char,
    name: char,
    product_id: { type: 'many2one', relation: 'product.product', store: true },
  });
  const listPatterns = (text: string) =>
    (searchByText({ ...ALL, fields, text }) ?? [])
      .filter((part) => Array.isArray(part) && part[1] === '=ilike')
      .map((part) => (part as unknown[])[2]);
  expect(listPatterns('40\\ Sales')).toEqual(['40\\\\']);
  expect(listPatterns('Chair (Steel\\, 5_0%)')).toEqual(['Chair', 'Steel\\\\', '5\\_0\\%']);
});

test('the name of records without a rule for names is compared only if it is stored', () => {
  const describe = (store: boolean) =>
    readFields({
      display_name: { type: 'char', searchable: true, store },
      ref: { type: 'char', store: true },
    });
  const list = (store: boolean) => searchByText({ ...ALL, fields: describe(store), text: 'a' });
  // `display_name` is left out: from Odoo 18 on, a search by it would find every record.
  expect(list(false)).toEqual([['ref', 'ilike', 'a']]);
  expect(list(true)).toEqual(['|', ['display_name', 'ilike', 'a'], ['ref', 'ilike', 'a']]);
});

test('a model without a text cannot be searched', () => {
  expect(searchByText({ ...ALL, fields: readFields({ qty: { type: 'float' } }), text: 'a' })).toBeNull();
});

test.each<[string, string[][]]>([
  [
    'S00025 - Large Cabinet (Oak)',
    [
      ['S00025', 'Large Cabinet (Oak)'],
      ['S00025 - Large Cabinet', 'Oak'],
      ['S00025', 'Large Cabinet', 'Oak'],
      ['S00025', '- Large Cabinet (Oak)'],
    ],
  ],
  ['BNK1/2026/00008 Bank fees', [['BNK1/2026/00008', 'Bank fees']]],
  ['Vendor / Desks', [['Vendor', 'Desks']]],
  ['Benelux (EUR)', [['Benelux', 'EUR']]],
])('a composed name has its parts in any of the fields: %s', (text, divisions) => {
  const fields = readFields({
    name: { type: 'char', store: true },
    qty: { type: 'float' },
    order_id: { type: 'many2one', relation: 'sale.order', store: true },
  });
  const domain = searchByParts({ ...ALL, fields, text })!;
  const either = (part: string) => ['|', ['name', 'ilike', part], ['order_id', 'ilike', part]];
  const expected = divisions.map((parts) => [...Array(parts.length - 1).fill('&'), ...parts.flatMap(either)]);
  expect(domain).toEqual([...Array(divisions.length - 1).fill('|'), ...expected.flat()]);
});

const CHAR = { type: 'char', store: true };
const MANY2ONE = { type: 'many2one', relation: 'x', store: true };

/** Names of records on real servers, with the fields from which Odoo composes them: texts, and names of many2one. */
test.each<[string, object, object]>([
  [
    'FURN_0789: Inventory adjustment>Stock',
    { name: 'INV:Starting Inventory' },
    {
      product_id: '[FURN_0789] Individual Workplace',
      location_id: 'Virtual Locations/Inventory adjustment',
      location_dest_id: 'WH/Stock',
    },
  ],
  [
    'P00011/FURN_6666: Vendors>Stock',
    { name: '[FURN_6666] Acoustic Bloc Screens', reference: 'WH/IN/00006', origin: 'P00011' },
    {
      product_id: '[FURN_6666] Acoustic Bloc Screens',
      location_id: 'Partners/Vendors',
      location_dest_id: 'WH/Stock',
    },
  ],
  [
    'S00025/Stock>Customers',
    { reference: 'WH/OUT/00044', origin: 'S00025' },
    { product_id: 'Screw Driver', location_id: 'WH/Stock', location_dest_id: 'Customers' },
  ],
  ['Gemini Furniture', {}, { name: 'Gemini Furniture', product_tmpl_id: '[FURN_7777] Office Chair' }],
  ['Gemini Furniture (12.0 Units - $\u00a090.00)', {}, { partner_id: 'Gemini Furniture' }],
  [
    'Mitchell Admin on Paid Time Off: 24.00 hours on 11/30/2026',
    { name: '*****' },
    { employee_id: 'Mitchell Admin', holiday_status_id: 'Paid Time Off' },
  ],
  [
    'Mitchell Admin sur Congés payés : 3 jours (30/11/2026 à 02/12/2026)',
    { name: '*****' },
    { employee_id: 'Mitchell Admin', holiday_status_id: 'Congés payés' },
  ],
  ['Sick Time Off: 1.00 days (11/30/2026)', {}, { holiday_status_id: 'Sick Time Off' }],
  ['My Company: Receipts', { name: 'Receipts' }, { warehouse_id: 'My Company' }],
])('finds a record by the name that Odoo composes: %s', (text, texts, names) => {
  const values = new Map<string, string>(Object.entries({ ...texts, ...names }));
  const fields = readFields({ ...mapValues(texts, () => CHAR), ...mapValues(names, () => MANY2ONE) });
  const other = { ...mapValues(texts, () => ''), ...mapValues(names, () => 'Another') };
  const domains = [searchByText({ ...ALL, fields, text }), searchByParts({ ...ALL, fields, text })];
  const find = (record: Map<string, string>) =>
    domains.some((domain) => domain !== null && matches(domain, record));
  expect(find(values)).toBe(true);
  expect(find(new Map(Object.entries(other)))).toBe(false);
});

function mapValues<Value>(members: object, make: () => Value): Record<string, Value> {
  return Object.fromEntries(Object.keys(members).map((name) => [name, make()]));
}

/** Evaluates a domain as Odoo does. Of its conditions, only those with `ilike` can be met. */
function matches(domain: readonly unknown[], record: Map<string, string>): boolean {
  const stack: boolean[] = [];
  for (const part of domain.toReversed()) {
    if (Array.isArray(part)) {
      const [path, operator, value] = part;
      const contains = record.get(path)?.toLowerCase().includes(String(value).toLowerCase()) === true;
      stack.push(operator === 'ilike' && contains);
    } else {
      const [one, other] = [stack.pop() === true, stack.pop() === true];
      stack.push(part === '|' ? one || other : one && other);
    }
  }
  return stack.every(Boolean);
}

test('a text with many short words is divided at a few of them', () => {
  const fields = readFields({ name: CHAR, employee_id: MANY2ONE });
  const count = (words: number) => {
    const text = `Ann ${'on it '.repeat(words)}: 3 days (11/30/2026)`;
    return searchByParts({ ...ALL, fields, text })?.filter(Array.isArray).length;
  };
  expect(count(30)).toBe(count(5));
});

test('a plain text has no parts', () => {
  const fields = readFields({ name: { type: 'char', store: true } });
  for (const text of ['Large Cabinet', 'S00025', 'info@example.com'])
    expect(searchByParts({ ...ALL, fields, text }), text).toBeNull();
});

test('a draft is found by the id in its name', () => {
  const fields = readFields({ name: { type: 'char', store: true } });
  expect(searchByText({ ...ALL, fields, text: 'Draft Bill (* 6)' })).toContainEqual(['id', '=', 6]);
});
