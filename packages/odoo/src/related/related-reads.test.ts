/** Calls that read fields of other models through their own records. */
import { describe, expect, test } from 'vitest';
import { countReads } from '../../../json/test/counted-bytes.ts';
import { readArguments } from '../../test/read-arguments.ts';
import { findFieldMethod } from '../fields/field-methods.ts';
import { listRelatedArguments, RELATED_ARGUMENTS } from './related-arguments.ts';
import { bringsContext, findRelatedRead, listReadEffects } from './related-reads.ts';

/** `mayRead` null: all models may be read. */
function find(
  method: string,
  params: string,
  keyword?: string,
  {
    model = 'sale.order',
    mayRead = null,
  }: { model?: string; mayRead?: ((model: string) => boolean) | null } = {},
) {
  const call = readArguments(params, keyword);
  return { read: findRelatedRead(model, method, call, mayRead), bringsContext: bringsContext(method, call) };
}
const OWN_ONLY = { mayRead: () => false };

const deep = (levels: number) => `${'{"id": {"fields": '.repeat(levels)}{}${'}}'.repeat(levels)}`;

test.each([
  ['web_read', '[[1], {"name": {}, "user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['web_read', '[[1]]', '{"specification": {"user_ids": {"fields": {"login": {}}}}}'],
  ['web_read', '[[1]]', '{"specification": {"user_ids": {"f\\u0069elds": {"login": {}}}}}'],
  ['web_read', '[[1]]', '{"specification": {"user_ids": {"fields": {}, "fields": {"login": {}}}}}'],
  ['web_read', '[[1]]', `{"specification": {"a": {"fields": {"id": {"fields": {"b": {}}}}}}}`],
  ['web_read', '[[1]]', `{"specification": ${deep(400)}}`],
  // Odoo converts a list of pairs into an object.
  [
    'web_read',
    '[[1], {"user_id": {"fields": [["login", {}], ["company_id", {"fields": [["vat", {}]]}]]}}]',
    '{}',
  ],
  ['web_read', '[[1], {"user_id": {"fields": "id"}}]', '{}'],
  ['web_read', '[[1], {"user_id": {"fields": ["login"]}}]', '{}'],
  ['web_read', '[[1], {"user_id": {"fields": {"id": {}, "login": {}}}}]', '{}'],
  ['web_read', '[[1], {"user_id": {"fields": {"id": {}, "display_name": {}, "id": {}}}}]', '{}'],
  ['web_search_read', '[[], {"user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['web_name_search', '["a", {"user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['web_save', '[[1], {}, {"user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['onchange', '[[1], {}, [], {"user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['onchange', '[[1], {}, []]', '{"fields_spec": {"user_ids": {"fields": {"login": {}}}}}'],
  // Odoo 14 to 16: an object with paths as names, or a list of paths.
  ['onchange', '[[1], {}, "a", {"partner_id.user_ids.login": "1"}]', '{}'],
  ['onchange', '[[1], {}, "a", {"name": "", "user_ids.login": ""}]', '{}'],
  ['onchange', '[[1], {}, "a", ["user_ids", "user_ids.login"]]', '{}'],
  ['onchange', '[[1], {}, "a", {"user_ids\\u002elogin": ""}]', '{}'],
  ['onchange', '[[1], {}, "a"]', '{"field_onchange": {"user_ids.login": "1"}}'],
  ['onchange', '[]', '{"values": {}, "field_name": [], "field_onchange": ["user_ids.login"]}'],
  ['get_property_definition', '["properties.abc"]', '{}'],
  ['get_property_definition', '[]', '{"full_name": "properties.abc"}'],
  ['web_read_group', '[[], ["user_id"], []]', '{"groupby_read_specification": {"user_id": {"login": {}}}}'],
  ['web_read_group', '[[], ["user_id"], []]', '{"groupby_read_specification": [1]}'],
  ['hierarchy_read', '[[], {"user_id": {"fields": {"login": {}}}}, "parent_id"]', '{}'],
  ['hierarchy_read', '[[]]', '{"specification": {"user_id": {"fields": {"login": {}}}}}'],
  ['get_gantt_data', '[[], ["user_id"], {"user_id": {"fields": {"login": {}}}}]', '{}'],
  ['get_gantt_data', '[[], ["user_id"]]', '{"read_specification": {"user_id": {"fields": {"login": {}}}}}'],
  ['get_gantt_data', '[[], ["user_id.login"], {}]', '{}'],
  ['search_panel_select_multi_range', '["user_id"]', '{"group_by": "login"}'],
  ['search_panel_select_range', '["user_id"]', '{"comodel_domain": [["id", ">", 0]]}'],
  ['search_panel_select_range', '["user_id"]', '{"expand": true}'],
  // Any argument of an unknown method can be a specification.
  ['export_data', '[[1], ["name", "user_id/login"]]', '{}'],
  ['export_data', '[[1]]', '{"fields_to_export": ["user_id/company_id/id"]}'],
  ['export_data', '[[1], ["user_id\\/login", "lead_properties.customer"]]', '{}'],
  ['a_read_that_is_new', '[[1], [{"user_id": {"fields": {"login": {}}}}]]', '{}'],
  ['a_read_that_is_new', '[]', '{"anything": {"user_id": {"fields": ["login"]}}}'],
  ['a_read_that_is_new', `[${'0,'.repeat(16)}{"user_id": {"fields": {"login": {}}}}]`, '{}'],
  ['read_group', `[[], [${'"a", '.repeat(1000)}"a"], []]`, '{}'],
  ['read_group', '[[], [], ["user_id.login"]]', '{}'],
  ['read_group', '[[]]', '{"fields": [], "groupby": "user_id\\u002elogin"}'],
  ['read_group', '[[], [], {"user_id.login": 1}]', '{}'],
  ['formatted_read_group', '[[], ["user_id"], ["user_id.login:array_agg"]]', '{}'],
  ['formatted_read_grouping_sets', '[[], [["user_id.login"]]]', '{}'],
])('finds fields of related records: %s %s %s', (method, params, keyword) => {
  expect(find(method, params, keyword).read).toBe('fields');
});

test.each([
  ['web_read', '[[1], {"name": {}, "user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['web_save', '[[1], {}, {"user_ids": {"fields": {"login": {}}}}]', '{}'],
  ['onchange', '[[1], {}, "a", ["user_ids", "user_ids.login"]]', '{}'],
  ['read_group', '[[], [], ["user_id.login"]]', '{}'],
  ['search_panel_select_range', '["user_id"]', '{"expand": true}'],
])('leaves listed fields to the rule of paths, if there is one: %s %s %s', (method, params, keyword) => {
  expect(find(method, params, keyword, OWN_ONLY).read).toBeNull();
});

test('every argument that reads related records is listed as one that names fields', () => {
  expect(RELATED_ARGUMENTS.length).toBeGreaterThan(0);
  for (const method of new Set(RELATED_ARGUMENTS.flatMap(({ methods }) => methods))) {
    const listed = findFieldMethod('sale.order', method)?.arguments ?? [];
    for (const { name, position } of listRelatedArguments(method)) {
      const row = listed.find(({ names }) => names.includes(name));
      expect([method, name, row?.position]).toEqual([method, name, position]);
      expect(row?.form, `${method} ${name}`).not.toBe('free');
    }
  }
});

test.each([
  // Any argument of an unknown method can be a specification.
  ['a_read_that_is_new', '[[1], [{"user_id": {"fields": {"login": {}}}}]]', '{}'],
  // An override in a module can take a specification.
  ['read', '[[1]]', '{"specification": {"user_id": {"fields": {"login": {}}}}}'],
])('finds what the rule of paths does not check: %s %s %s', (method, params, keyword) => {
  expect(find(method, params, keyword, OWN_ONLY).read).toBe('fields');
});

test.each([
  // A context that adds fields of a partner to display names.
  ['read', '[[1], ["partner_id"]]', '{"context": {"show_email": true}}'],
  ['search_read', '[[], ["partner_id"]]', '{"context": {"lang": "fr_FR", "show_\\u0061ddress": 1}}'],
  ['name_search', '["a"]', '{"context": {"show_vat": true}}'],
  // Python converts a list of pairs into an object.
  ['name_search', '["a"]', '{"context": [["show_vat", true]]}'],
  ['web_read', '[[1], {"partner_id": {"fields": {"display_name": {}}, "context": {"show_email": 1}}}]', '{}'],
])('finds names with fields of partners, unless these may be read: %s %s %s', (method, params, keyword) => {
  expect(find(method, params, keyword, OWN_ONLY).read).toMatchObject({ model: 'res.partner' });
  const others = keyword.includes('[[') ? () => true : (model: string) => model === 'res.partner';
  expect(find(method, params, keyword, { mayRead: others }).read).toBeNull();
});

test.each([
  ['purchase.order', 'show_total_amount'],
  ['account.move', 'name_as_amount_total'],
  ['sale.order.line', 'with_price_unit'],
  ['project.task', 'hr_timesheet_display_remaining_hours'],
])('finds names with fields of %s by `%s`, unless these may be read', (shown, member) => {
  const ask = (mayRead: (model: string) => boolean, model: string) =>
    find('read', '[[1], ["order_id"]]', `{"context": {"${member}": true}}`, { mayRead, model }).read;
  expect(ask(() => false, 'stock.picking')).toMatchObject({ model: shown });
  expect(ask((model) => model === shown, 'stock.picking')).toBeNull();
  expect(ask(() => false, shown)).toBeNull();
});

test.each([
  ['the order of partners', '{"res_partner_search_mode": "customer"}'],
  ['names behind many2one fields', '{"show_payment_journal_id": false, "sale_show_partner_name": true}'],
  ['members of other calls', '{"partner_id": 3, "seller_id": 3, "employee_id": 3}'],
])('finds no names with fields by %s', (_, context) => {
  expect(find('read', '[[1], ["name"]]', `{"context": ${context}}`, OWN_ONLY).read).toBeNull();
});

describe('a view that a call names is one of any model', () => {
  test.each([
    ['get_views', '[[[5, "form"]]]', '{}'],
    ['get_views', '[[[false, "list"], ["5", "form"]]]', '{}'],
    ['get_views', '[]', '{"views": [[null, "list"], [5, "form"]]}'],
    ['get_views', '[["5f"]]', '{}'],
    ['get_views', '[{"5f": 1}]', '{}'],
    ['load_views', '[[[5, "form"]]]', '{}'],
    ['get_view', '[5]', '{}'],
    ['get_view', '[]', '{"view_id": 5, "view_type": "form"}'],
    ['fields_view_get', '[5, "form"]', '{}'],
    ['get_views', '[[[false, "form"]]]', '{"context": {"form_view_ref": "base.view_users_form"}}'],
  ])('%s %s %s', (method, params, keyword) => {
    expect(find(method, params, keyword, OWN_ONLY).read).toMatchObject({ model: 'ir.ui.view' });
    expect(find(method, params, keyword, { mayRead: (model) => model === 'ir.ui.view' }).read).toBeNull();
    expect(find(method, params, keyword, { ...OWN_ONLY, model: 'ir.ui.view' }).read).toBeNull();
  });

  test('also where the context is a list of pairs', () => {
    const context = '{"context": [["form_view_ref", "base.view_users_form"]]}';
    expect(find('get_view', '[]', context, OWN_ONLY).read).toMatchObject({ model: 'ir.ui.view' });
  });

  test.each([
    ['get_views', '[[[false, "form"], [null, "list"], [0, "kanban"], []]]', '{}'],
    ['get_views', '[null]', '{"views": []}'],
    ['get_view', '[false, "form"]', '{"context": {"form_view_ref": false, "lang": "a_view_ref"}}'],
    ['fields_view_get', '[]', '{"context": []}'],
    ['read', '[[5]]', '{"context": {"form_view_ref": "a.b"}}'],
  ])('%s %s %s names none', (method, params, keyword) => {
    expect(find(method, params, keyword, OWN_ONLY).read).toBeNull();
  });
});

test.each([
  ['web_read', '[[1], {"name": {}, "user_id": {"fields": {"display_name": {}, "id": {}}}}]', '{}'],
  ['web_read', '[[1], {"name": {}, "user_id": {}}]', '{}'],
  ['export_data', '[[1], ["id", ".id", "name", "user_id", "user_id/id", "user_id/.id"]]', '{}'],
  ['web_search_read', '[[], ["name"]]', '{}'],
  ['onchange', '[[1], {"name": "a.b"}, "a", {"name": "1", "line_ids": ""}]', '{}'],
  ['onchange', '[[1], {}, [], {"name": {}, "user_id": {"fields": {"display_name": {}}}}]', '{}'],
  ['read_group', '[[["user_id.login", "=", "a"]], ["amount:sum"], ["user_id", "date:month"], 1.5]', '{}'],
  [
    'read_group',
    '[]',
    '{"domain": [["user_id.login", "=", "a"]], "groupby": ["user_id"], "context": {"a.b": 1}}',
  ],
  ['web_read', '[[1], {"user_id": {"fields": {"id": null}}, "a": {"fields": false}, "fields": {}}]', '{}'],
  // An empty object as PHP prints it.
  ['web_read', '[[1], {"user_id": {"fields": [ ], "context": [ ]}, "name": []}]', '{}'],
  [
    'search_panel_select_range',
    '["user_id"]',
    '{"comodel_domain": [], "expand": false, "search_domain": [["a.b", "=", 1]]}',
  ],
  ['a_read_that_is_new', '[[1], {"user_id": {}}, "fields"]', '{"fields": ["a"], "context": {"context": 1}}'],
  // Values of fields that any model can have.
  ['write', '[[1], {"context": "{}", "fields": "a"}]', '{}'],
  ['create', '[[{"context": {"a": 1}, "fields": {"a": 1}}]]', '{}'],
  ['web_save', '[[1], {"context": "{}", "fields": "a"}, {"context": {}, "fields": {}}]', '{}'],
  ['read', '[[1], ["user_id.login"]]', '{}'],
  ['search', '[[["user_id.login", "=", "a"]]]', '{}'],
])('treats names of related records only as a read of the own model: %s %s %s', (method, params, keyword) => {
  expect(find(method, params, keyword)).toEqual({ read: null, bringsContext: false });
});

test.each([
  ['read', '[[1], ["parent_id"]]', '{"context": {"show_email": true}}'],
  ['web_read', '[[1], {"parent_id": {"fields": {"display_name": {}}, "context": {"show_email": 1}}}]', '{}'],
])(
  'takes names with fields of a partner for a read of its own model where that is res.partner: %s %s',
  (...call) => {
    expect(find(...call, { ...OWN_ONLY, model: 'res.partner' }).read).toBeNull();
  },
);

test.each(['{"show_email": false}', '{"show_email": null, "lang": "show_vat"}', 'null', '[]'])(
  'reads nothing more with the context %s',
  (context) => {
    expect(find('read', '[[1], ["partner_id"]]', `{"context": ${context}}`, OWN_ONLY).read).toBeNull();
  },
);

test.each(['create', 'write', 'search'])('%s returns no names, whatever the context', (method) => {
  expect(find(method, '[[]]', '{"context": {"show_email": true}}', OWN_ONLY).read).toBeNull();
});

test('finds a context inside a specification', () => {
  const inner = '{"fields": {"display_name": {}}, "context": {"allowed_company_ids": [2]}}';
  expect(find('web_read', `[[1], {"user_id": ${inner}}]`)).toEqual({
    read: null,
    bringsContext: true,
  });
  expect(find('web_read', `[[1], {"a": {"fields": {"b": ${inner}}}}]`).bringsContext).toBe(true);
  expect(
    find('web_read', '[[1], {"a": {"fields": [["b", {"context": {"allowed_company_ids": [9]}}]]}}]')
      .bringsContext,
  ).toBe(true);
  expect(find('hierarchy_read', `[[], {"user_id": ${inner}}, "parent_id"]`).bringsContext).toBe(true);
  expect(find('a_read_that_is_new', '[]', '{"a": [{"context": {"b": 1}}]}').bringsContext).toBe(true);
  expect(
    find('web_read_group', '[[]]', '{"groupby_read_specification": {"a": {"b": {"context": {"c": 1}}}}}')
      .bringsContext,
  ).toBe(true);
});

test.each<[string, string]>([
  ['web_read', `[[1], ${deep(3000)}]`],
  ['web_read', `[[1], {${'"a": {"fields": {"id": {}}}, '.repeat(3000)}"b": {}}]`],
  ['web_read', `[[1], {${'"f\\u0069eld": {"fieldsx": {"context": null}}, '.repeat(3000)}"b": {}}]`],
  ['web_read', `[[1], ${'{"a": '.repeat(3000)}{}${'}'.repeat(3000)}]`],
  ['read_group', `[[], [${'"abc", '.repeat(900)}"d"], []]`],
  ['read_group', `[[], ${'["a", '.repeat(3000)}[]${']'.repeat(3000)}, []]`],
  ['a_read_that_is_new', `[${'{"a": [{"fields": {"id": {}}}, "b"]}, '.repeat(14)}${deep(3000)}]`],
])('%s reads no byte more than a few times, whatever they are', (method, params) => {
  const { positional, named } = readArguments(params);
  const { bytes, reads } = countReads(`${params}{}`);
  findRelatedRead('sale.order', method, { bytes, positional, named }, null);
  bringsContext(method, { bytes, positional, named });
  expect(reads()).toBeGreaterThan(0);
  // Two passes, each of which skips a list of names before it reads the list.
  expect(reads()).toBeLessThan(2 * 3 * params.length);
});

test.each([
  ['read', '[[3], ["name"]]', '{"context": {"signup_valid": true}}', 1],
  ['read', '[[3], ["name"]]', '{"context": {"signup_\\u0076alid": true}}', 1],
  ['web_read', '[[3], {"a_id": {"fields": {"name": {}}, "context": {"signup_valid": 1}}}]', '{}', 1],
  ['read', '[[3], ["name"]]', '{"context": {"signup_valid": false, "bom_id": 1}}', 0],
  ['read', '[[3], ["signup_valid"]]', '{}', 0],
  // Python converts a list of pairs into an object.
  ['read', '[[3], ["name"]]', '{"context": [["signup_valid", true]]}', 1],
  ['read', '[[3], ["name"]]', '{"context": [{"signup_valid": 1, "a": 2}]}', 1],
  ['read', '[[3], ["name"]]', '{"context": [1]}', 0],
])('finds what a read does because of its context: %s %s %s', (method, params, keyword, count) => {
  const found = listReadEffects(method, readArguments(params, keyword));
  expect(found.map(({ model, method: needed }) => `${model}/${needed}`)).toEqual(
    Array.from({ length: count }, () => 'res.partner/signup_prepare'),
  );
});
