import { describe, expect, test } from 'vitest';
import { readArguments } from '../../test/read-arguments.ts';
import { findComputedField } from './computed-fields.ts';
import { listFieldUses } from './field-uses.ts';

/**
 * The paths, each with its tail: `partner_id.vat`, `partner_id → searched`, and `partner_id[]` if the field's records
 * are listed.
 */
function list(method: string, params: string, keyword = '{}', model = 'x.model'): string[] {
  const { uses } = listFieldUses(model, method, readArguments(params, keyword));
  return uses.map(({ path, tail, model: of, isListed }) => {
    const owner = of === undefined ? '' : `${of ?? '*'}:`;
    return `${owner}${path.join('.')}${isListed ? '[]' : ''}${tail === null ? '' : ` → ${tail}`}`;
  });
}

test.each([
  ['read', '[[1], ["name", "vat"]]', ['name[] → shown', 'vat[] → shown']],
  ['read', '[[1], ["name"], null]', ['name[]']],
  ['read', '[[1], ["name"], "_classic_read"]', ['name[] → shown']],
  ['search_read', '[[], ["name"], null]', ['name[] → shown']],
  ['search', '[[["vat", "=", 1]]]', ['vat']],
  ['search', '[["|", ["a.b", "in", [1]], "!", ["c", "ilike", "x"]]]', ['a.b', 'c → searched']],
  ['search', '[[["a", "any", [["b", "any", [["c", "=", 1]]]]]]]', ['a', 'a.b', 'a.b.c']],
  // From 19 on, `any` on `id` holds conditions on the records themselves.
  ['search', '[[["id", "any", [["a", "=", 1]]]]]', ['id', 'a']],
  ['search', '[[["p.id", "not any", [["id", "any!", [["a", "=", 1]]]]]]]', ['p.id', 'p.a']],
  ['search', '[[["id", "child_of", [1]]]]', [' parents', 'id → parents', 'id']],
  // The call searches for a text by name.
  [
    'search',
    '[[["p.id", "parent_of", ["a"]]]]',
    ['p. parents', 'p. name search', 'p.id → parents', 'p.id → searched'],
  ],
  // `like` also compares a number with the names.
  [
    'search',
    '[[["a", "ilike", 4], ["b", "NOT LIKE", [4]], ["c", "=", 4]]]',
    ['a → searched', 'b → searched', 'c'],
  ],
  ['search', '[[["a", "ilike", false]]]', ['a']],
  ['search', '[[["p.display_name", "!=", false]]]', ['p. name search', 'p.display_name']],
  [
    'search',
    '[[[1, "=", 1]], 0, 5, "a desc,\\"b\\" , c.d nulls last"]',
    ['a → sorted', 'b → sorted', 'c.d → sorted'],
  ],
  [
    'read_group',
    '[[], ["a:sum", "x:max(b)", "__count"], "c:month"]',
    ['a → named', 'b → named', 'c → grouped'],
  ],
  // The second argument is the aggregates in 14 to 18, and `groupby` in 19.
  ['web_read_group', '[[], ["a:x(b)"], ["c"]]', ['b → grouped', 'a → grouped', 'c → grouped']],
  [
    'web_read',
    '[[1], {"a": {}, "b": {"fields": {"c": {}}, "order": "d", "context": {"show_vat": 1}}}]',
    ['a[]', 'b', 'b.c[]', 'b.d → sorted', 'res.partner:vat'],
  ],
  // Python takes the last of two members with one name.
  ['web_read', '[[1], {"a": {"order": "id", "order": ""}}]', ['a[]', 'a.id → sorted']],
  ['create', '[[{"a": 1, "b": [[0, 0, {"c": [[1, 2, [["d", [3]]]]]}]]}]]', ['a', 'b', 'b.c', 'b.c.d']],
  [
    'export_data',
    '[[1], ["a/b/.id", ".id", "c:id"]]',
    ['a[]', 'a.b[]', 'a.b.id[] → named', 'id[] → named', 'c[]', 'c.id[] → named'],
  ],
  ['load', '[["a", "b/id"], []]', ['a → searched', 'b.id → searched']],
  ['onchange', '[[], {"a": 1}, "b", {"c.d": "1"}]', ['a', 'b', 'c[]', 'c.d[] → shown']],
  ['onchange', '[[], {}, [], {"c": {"fields": {"d": {}}}}]', ['c[] → shown', 'c.d[]']],
  // `onchange` ignores orders in its specification.
  [
    'onchange',
    '[[], {}, [], {"c": {"fields": {"d": {"order": "id"}}, "order": "e"}}]',
    ['c[] → shown', 'c.d[]', 'c.d.id → sorted', 'c.e → sorted'],
  ],
  [
    'read_group',
    '[[], ["group__count:count(id)"], [], 0, 1, "group__count desc, a"]',
    ['id → named', 'a → sorted'],
  ],
  ['name_search', '["x"]', ['display_name → shown', ' name search']],
  ['name_search', '[""]', ['display_name → shown']],
  ['name_search', '["", [], "ilike", 5]', ['display_name → shown']],
  // Other operators compare an empty text too, and so find records that have no value.
  ['name_search', '["", [], "="]', ['display_name → shown', ' name search']],
  ['name_search', '[false, [], "not ilike"]', ['display_name → shown', ' name search']],
  ['mapped', '[[1], "a.b"]', ['a[]', 'a.b[]']],
  ['web_resequence', '[[1], {}]', ['sequence']],
  ['search_panel_select_range', '["a"]', ['a → grouped', 'a → parents']],
  ['search_panel_select_multi_range', '["a"]', ['a → grouped']],
])('%s%s', (method, params, uses) => {
  expect(list(method, params)).toEqual(uses);
});

test('methods of one model, which a policy must name, are read too', () => {
  const domain = '[["a.b", "=", 1]]';
  expect(list('mark_all_as_read', `[${domain}]`, '{}', 'mail.message')).toEqual(['a.b']);
  expect(list('search_paid_order_ids', `[1, ${domain}, 5, 0]`, '{}', 'pos.order')).toEqual(['a.b']);
  expect(list('get_avatar_card_data', '[[1], ["pin"]]', '{}', 'hr.employee')).toEqual(['pin[] → shown']);
  expect(list('get_barcodes_and_pin_hashed', '[[1]]', '{}', 'hr.employee')).toEqual([
    'barcode → shown',
    'pin → shown',
  ]);
});

test('reads the same fields by name, and those of the context', () => {
  const keyword =
    '{"args": [["a", "=", 1]], "context": {"default_b": 1, "search_default_c": 1, "group_by": ["d:month"], "active_test": false, "show_email": true}}';
  expect(list('search', '[]', keyword)).toEqual([
    'a',
    'b',
    '*:b',
    'c',
    'd → named',
    'active',
    '*:active',
    'res.partner:email',
  ]);
  expect(list('search', '[[]]', '{"context": {"active_test": true, "show_email": false}}')).toEqual([]);
  expect(
    list('search', '[[]]', '{"context": {"sale_show_partner_name": 1, "show_total_amount": true}}'),
  ).toEqual(['sale.order:partner_id', 'res.partner:name', 'purchase.order:amount_total']);
  expect(list('search', '[[]]', '{"context": {"hr_timesheet_display_remaining_hours": true}}')).toEqual([
    'project.task:remaining_hours',
  ]);
  // Odoo searches products by this domain.
  expect(list('search', '[[]]', '{"context": {"suggest_domain": [["a.b", "=", "x"]]}}')).toEqual([
    'product.product:a.b → searched',
  ]);
  expect(list('read', '[[1], ["a"]]', '{"context": {"seller_id": 1}}')).toEqual([
    'a[] → shown',
    'product.supplierinfo:product_name',
    'product.supplierinfo:product_code',
  ]);
  expect(list('any_method', '[["vat"]]', '{"context": {"default_b": 1}}')).toEqual(['b', '*:b']);
});

test('web_name_search shows names as lists of choices do, whatever its context', () => {
  const uses = list('web_name_search', '["", {"display_name": {}}]');
  expect(uses).toContain('account.account:description');
  expect(uses).not.toContain(' name search');
  expect(list('web_name_search', '["", {}]', '{"operator": "!="}')).toContain(' name search');
});

test.each([
  ['{"hierarchize": false}', ['a → grouped']],
  [
    '{"search_domain": [["b", "=", 1]], "category_domain": [["c", "=", 1]]}',
    ['a → grouped', 'c', 'b', 'a → parents'],
  ],
  ['{"comodel_domain": [["b.c", "=", "x"]]}', ['a → grouped', 'a.b.c → searched', 'a → parents']],
  ['{"group_by": "b", "hierarchize": false}', ['a → grouped', 'a.b[] → named']],
  ['{"group_domain": [["b", "=", 1]], "hierarchize": null}', ['a → grouped', 'b']],
  [
    '{"group_domain": {"false": [["b", "=", 1]], "2": []}, "hierarchize": 0}',
    ['a → grouped', 'b', 'a → parents'],
  ],
])('a search panel with %s', (keyword, uses) => {
  expect(list('search_panel_select_range', '["a"]', keyword)).toEqual(uses);
});

test.each([
  ['read', '[[1]]', { name: 'fields', position: 1, tail: 'shown', canList: true, isListed: true }],
  ['read', '[[1], [], ""]', { name: 'fields', position: 1, tail: null, canList: true, isListed: true }],
  ['search_read', '[[], {}]', { name: 'fields', position: 1, tail: 'shown', canList: true, isListed: true }],
  ['fields_get', '[]', { name: 'allfields', position: 0, tail: null, canList: true }],
  ['web_search_read', '[[]]', { name: 'specification', tail: 'shown', canList: false, isListed: true }],
  ['read_group', '[[], [], []]', { name: 'fields', tail: 'shown', canList: false }],
  ['copy_data', '[[1]]', { name: null, tail: null, canList: false, isListed: true }],
  ['search', '[[]]', null],
])('%s%s names no fields', (method, params, unnamed) => {
  expect(listFieldUses('x.model', method, readArguments(params)).unnamed).toEqual(unnamed);
});

test.each([
  ['search', '[[]]', { name: 'order', position: 3 }],
  ['search', '[[], 0, 1, null]', { name: 'order', position: 3 }],
  ['search', '[[], 0, 1, ""]', { name: 'order', position: 3 }],
  ['search_read', '[]', { name: 'order', position: 4 }],
  ['web_search_read', '[[], {}]', { name: 'order', position: 4 }],
  ['sorted', '[[1]]', { name: 'key', position: 1 }],
  ['name_search', '[""]', null],
  ['web_name_search', '["", {}]', null],
])('%s%s finds records without an order', (method, params, argument) => {
  expect(listFieldUses('x.model', method, readArguments(params)).unordered).toEqual({ argument });
});

test.each([
  ['search', '[[], 0, 1, "id"]', '{}'],
  ['search', '[[]]', '{"order": "id"}'],
  ['search_count', '[[]]', '{}'],
  ['read', '[[1]]', '{}'],
  ['read_group', '[[], ["a"], ["b"]]', '{}'],
  ['web_read_group', '[[], ["a"], ["b"]]', '{}'],
])('%s%s %s gives an order, or finds no records', (method, params, keyword) => {
  expect(listFieldUses('x.model', method, readArguments(params, keyword)).unordered).toBe(null);
});

test.each(['expand', 'auto_unfold', 'unfold_read_specification'])(
  'groups with %s list records in the order of their model',
  (name) => {
    const call = readArguments('[[], ["a"], ["b"]]', `{"${name}": {"a": 1}}`);
    expect(listFieldUses('x.model', 'web_read_group', call).unordered).toEqual({ argument: null });
  },
);

test('groups with an order do not follow that of their records', () => {
  const eager = '{"orderby": "__count", "lazy": false}';
  expect(list('read_group', '[[], [], ["a"]]', eager)).toEqual(['a → named']);
  expect(list('formatted_read_group', '[[], ["a"]]', '{"order": "a desc"}')).toEqual([
    'a → named',
    'a → sorted',
  ]);
  // In 19, `groupby` is the second argument, and the aggregates are the third.
  expect(list('web_read_group', '[[], ["a"], ["b:sum"]]')).toEqual(['a → grouped', 'b → grouped']);
  expect(list('read_progress_bar', '[[], "a", {"field": "b"}]')).toEqual(['a → grouped', 'b']);
});

test.each([
  // Groups with equal counts are sorted by the fields that they are grouped by.
  ['web_read_group', '[[], ["a"]]', '{"order": "__count"}'],
  // Odoo adds groups without records (`group_expand`), in the order of all their records.
  ['read_group', '[[], [], ["a"]]', '{"orderby": "__count"}'],
  ['read_group', '[[], [], ["a"], 0, null, "__count", true]', '{}'],
  ['formatted_read_group', '[[], ["a"]]', '{"order": "__count", "context": {"read_group_expand": true}}'],
])('groups of %s%s %s follow the order of their records, also with an order', (method, params, keyword) => {
  expect(list(method, params, keyword)).toEqual(['a → grouped']);
});

describe('what cannot be read is unreadable', () => {
  test.each([
    ['read', '[[1], 0]', 'fields'],
    ['read', '[[1], {"vat": 1}]', 'fields'],
    ['read', '[[1], ["a b"]]', 'fields'],
    ['search', '[[["a", "="]]]', 'domain'],
    ['search', '["x"]', 'domain'],
    ['search', '[[["a", "any", 1]]]', 'domain'],
    ['search', '[[], 0, 1, "a; b"]', 'order'],
    ['search', '[[], 0, 1, ["a"]]', 'order'],
    ['create', '[[["vat", "x"]]]', 'vals_list'],
    ['read_group', '[[], ["max(a)"], []]', 'fields'],
    // Odoo reads `a` in each of these arguments: 14 to 16 group by the name before the colon, and aggregates end at a
    // dot.
    ['read_group', '[[], [], ["a:x(b)"]]', 'groupby'],
    ['web_read_group', '[[], [], ["a:x(b)"]]', 'groupby'],
    ['formatted_read_group', '[[], ["a:x(b)"], []]', 'groupby'],
    ['read_progress_bar', '[[], "a:x(b)", {}]', 'group_by'],
    ['read_group', '[[], ["a:max(b.c)"], []]', 'fields'],
    ['read_group', '[[], ["a.x:sum(b)"], []]', 'fields'],
    ['web_read_group', '[[], [], [], 1]', null],
  ])('%s%s', (method, params, unreadable) => {
    expect(listFieldUses('x.model', method, readArguments(params)).unreadable).toBe(unreadable);
  });

  test('a grouping of the context that names two fields', () => {
    const call = readArguments('[[]]', '{"context": {"group_by": ["a:x(b)"]}}');
    expect(listFieldUses('x.model', 'search', call).unreadable).toBe('context');
  });

  test('a context of pairs', () => {
    const call = readArguments('[[]]', '{"context": [["default_vat", 1]]}');
    expect(listFieldUses('x.model', 'search', call).unreadable).toBe('context');
  });

  test.each([
    ['search', (path: string) => `[[["${path}", "=", 1]]]`, 'domain'],
    ['search', (path: string) => `[[], 0, 1, "${path}"]`, 'order'],
    ['read', (path: string) => `[[1], ["${path}"]]`, 'fields'],
    ['export_data', (path: string) => `[[1], ["${path.replaceAll('.', '/')}"]]`, 'fields_to_export'],
    ['read_group', (path: string) => `[[], [], ["${path}"]]`, 'groupby'],
    ['search_panel_select_range', (path: string) => `["${path}"]`, 'field_name'],
  ])('a path of too many names, at once: %s', (method, print, unreadable) => {
    const pathOf = (names: number) => Array(names).fill('a').join('.');
    const readable = listFieldUses('x.model', method, readArguments(print(pathOf(32))));
    expect(readable.unreadable).toBe(null);
    for (const names of [33, 300_000]) {
      const { uses, unreadable: found } = listFieldUses(
        'x.model',
        method,
        readArguments(print(pathOf(names))),
      );
      expect(found).toBe(unreadable);
      expect(uses).toEqual([]);
    }
  });

  test('paths of too many names in all, each counted once', () => {
    const listPaths = (count: number) =>
      Array.from({ length: count }, (_, index) => JSON.stringify([`a${index}.b.c.d.e.f.g.h.i.j`, '=', 5]));
    const find = (conditions: readonly string[]) => {
      const { uses, unreadable } = listFieldUses('x.model', 'search', readArguments(`[[${conditions}]]`));
      return { names: uses.reduce((sum, { path }) => sum + path.length, 0), unreadable };
    };
    expect(find(listPaths(1000))).toEqual({ names: 10_000, unreadable: null });
    expect(find([...listPaths(1000), ...listPaths(1000)])).toEqual({ names: 10_000, unreadable: null });
    expect(find(listPaths(1001))).toEqual({ names: 10_000, unreadable: 'domain' });
  });

  test('a name that is too long', () => {
    const find = (length: number) =>
      listFieldUses('x.model', 'read', readArguments(`[[1], ["${'a'.repeat(length)}"]]`)).unreadable;
    expect([find(100), find(101)]).toEqual([null, 'fields']);
  });

  test('more names than are read', () => {
    const rows = Array.from(
      { length: 2100 },
      () => '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}',
    );
    expect(listFieldUses('x.model', 'create', readArguments(`[[${rows}]]`)).unreadable).toBe('vals_list');
  });
});

test('an argument that is not in the row is unknown', () => {
  const uses = (params: string, keyword: string) =>
    listFieldUses('x.model', 'search', readArguments(params, keyword)).unknown;
  expect(uses('[[]]', '{"query": "x"}')).toBe('query');
  expect(uses('[[], 0, 1, "id", true, 5]', '{}')).toBe('params[5]');
  expect(uses('[[]]', '{"fields": ["a"], "limit": 5}')).toBe(null);
});

test('further fields add to what a computed field shows', () => {
  const list = (model: string, field: string) =>
    findComputedField(model, field)?.sources.map((source) => `${source.model} ${source.field}`);
  expect(list('product.product', 'value_svl')).toEqual(['product.product standard_price']);
  expect(list('account.move', 'date')).toEqual(['account.move invoice_date']);
  expect(list('sale.order', 'prepayment_percent')).toEqual(['res.company prepayment_percent']);
  expect(list('product.product', 'avg_cost')).toEqual(
    expect.arrayContaining(['product.product total_value', 'product.product standard_price']),
  );
});
