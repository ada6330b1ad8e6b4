/**
 * The number of records that reads can return, by their arguments. Positions of `limit` are checked against recorded
 * signatures.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { countReads } from '../../json/test/counted-bytes.ts';
import { readArguments } from '../test/read-arguments.ts';
import type { Arguments } from './arguments.ts';
import { isReadOnlyMethod } from './methods.ts';
import { countRecords, findLimitPosition } from './record-count.ts';

/** The default of `max` is more than any test expects. */
const count = (method: string, call: Arguments, max = 1000) => countRecords('res.partner', method, call, max);

describe('a method with a limit returns', () => {
  test.each<[string, string, string, number | null]>([
    ['search', '[[]]', '{}', null],
    ['search', '[[], 0, 5]', '{}', 5],
    ['search', '[[], 0, 5, "name", true, 1, 2]', '{}', 5],
    ['search', '[[], 0, null]', '{}', null],
    ['search', '[[], 0, 0]', '{}', null],
    ['search', '[[]]', '{"limit": 7}', 7],
    ['search', '[[]]', '{"limit": 1e3}', 1000],
    ['search', '[[]]', '{"limit": 5.0}', 5],
    ['search', '[[]]', '{"limit": -0.0}', null],
    ['search', '[[]]', '{"limit": 1.5}', Number.NaN],
    ['search', '[[]]', '{"limit": -1}', Number.NaN],
    ['search', '[[]]', '{"limit": true}', Number.NaN],
    ['search', '[[]]', '{"limit": ""}', Number.NaN],
    ['search', '[[]]', '{"limit": []}', Number.NaN],
    ['search', '[[]]', '{"limit": {}}', Number.NaN],
    ['search', '[[]]', '{"limit": "5"}', Number.NaN],
    ['search', '[[]]', '{"limit": 1e400}', Number.NaN],
    ['search', '[[]]', '{"l\\u0069mit": 7}', 7],
    // Odoo refuses a limit that is given twice; the largest one counts here.
    ['search', '[[], 0, 5]', '{"limit": 7}', 7],
    ['search', '[[], 0, 5]', '{"limit": null}', null],
    ['search', '[[], 0, 5]', '{"limit": "x"}', Number.NaN],
    ['search_read', '[[], ["name"], 0, 5]', '{}', 5],
    ['name_search', '["a"]', '{}', 100],
    ['name_search', '["a"]', '{"limit": null}', null],
    ['formatted_read_group', '[[], ["a"], [], [], 0, 5]', '{}', 5],
    ['web_read_group', '[[], ["a"], [], 5]', '{}', 5],
    ['web_read_group', '[[], ["a"], [], 5]', '{"auto_unfold": false}', 5],
    ['search_paid_order_ids', '[1, [], 5, 0]', '{}', 5],
    [
      'read_group',
      '[["a", "=", ":array_agg"], ["id:count_distinct", "a:avg"], ["date:month"], 0, 5]',
      '{}',
      5,
    ],
  ])('%s %s %s: %s', (method, params, keyword, asked) => {
    expect(count(method, readArguments(params, keyword))).toEqual({ asked, canLower: true });
  });
});

describe('a method with ids returns', () => {
  test.each<[string, string, string, number]>([
    ['read', '[[1, 2, 3]]', '{}', 3],
    ['read', '[7]', '{}', 1],
    ['read', '[[]]', '{}', 0],
    ['read', '[null]', '{}', 0],
    ['read', '[]', '{}', 0],
    ['read', '[[1], ["a", "b"]]', '{}', 1],
    ['read', '[[[1, 2, 3]]]', '{}', Number.NaN],
    ['read', '["123"]', '{}', Number.NaN],
    ['read', '[["1", "2"]]', '{}', Number.NaN],
    ['read', '[{"1": 1}]', '{}', Number.NaN],
    ['read', '[true]', '{}', Number.NaN],
    ['web_read', '[]', '{"ids": [1, 2]}', 2],
    ['web_read', '[[1]]', '{"ids": [1, 2]}', 3],
    ['name_get', '[[1, 2]]', '{}', 2],
    ['export_data', '[[1, 2], ["name"]]', '{}', 2],
    ['get_external_id', '[[1, 2]]', '{}', 2],
    ['get_xml_id', '[[1, 2]]', '{}', 2],
    ['web_save', '[[], {}, {}]', '{}', 0],
    ['web_save', '[[1], {}, {}, [2, 3, 4]]', '{}', 4],
    ['web_save', '[[1], {}, {}]', '{"next_id": [2, 3]}', 3],
    ['web_save', '[[1], {}, {}, false]', '{}', 1],
    ['web_save_multi', '[[1, 2], [{}, {}], {}]', '{}', 2],
    ['web_resequence', '[[1, 2, 3], {}]', '{}', 3],
    ['get_avatar_card_data', '[[1, 2, 3], ["name"]]', '{}', 3],
    ['get_barcodes_and_pin_hashed', '[[1, 2, 3]]', '{}', 3],
    ['read_converted', '[[1, 2, 3]]', '{}', 3],
  ])('%s %s %s: %s', (method, params, keyword, asked) => {
    expect(count(method, readArguments(params, keyword))?.asked).toBe(asked);
  });
});

test.each(['search_panel_select_range', 'im_search', 'message_get_followers'])(
  '%s returns as many records as its named limit says, and gets no lower limit',
  (method) => {
    expect(count(method, readArguments('["user_id"]', '{"limit": 7}'))).toEqual({
      asked: 7,
      canLower: false,
      advice: 'give a `limit` of at most that, by name',
    });
    expect(count(method, readArguments('["user_id", 7]'))?.asked).toBe(null);
  },
);

test('ids are counted up to one more than the maximum, and no further', () => {
  const params = `[[${'1, '.repeat(5000)}1]]`;
  const { positional, named } = readArguments(params);
  const { bytes, reads } = countReads(`${params}{}`);
  expect(count('read', { bytes, positional, named }, 10)).toEqual({ asked: 11, canLower: true });
  expect(reads()).toBeLessThan(200);
});

test('only the ids of read may be cut', () => {
  expect(count('read', readArguments('[[1]]'))?.canLower).toBe(true);
  expect(count('web_read', readArguments('[[1]]'))?.canLower).toBe(false);
});

test.each(['search_count', 'fields_get', 'has_access', 'get_views'])('%s returns no records', (method) => {
  expect(count(method, readArguments('[[]]'))).toBeNull();
});

test.each([
  ['formatted_read_grouping_sets', '[[], [["a"]]]', '{}'],
  ['copy_data', '[[1]]', '{}'],
  ['get_new_partner', '[1, [], 0]', '{"limit": 1}'],
  ['get_warehouses', '[]', '{}'],
  ['hierarchy_read', '[[], {}, "parent_id"]', '{"limit": 1}'],
  ['get_gantt_data', '[[], ["user_id"], {}, 1]', '{}'],
  ['search_panel_select_range', '["user_id"]', '{}'],
  ['search_panel_select_multi_range', '["user_id"]', '{"limit": 0}'],
  ['read_group', '[[], ["email:array_agg"], [], 0, 5]', '{}'],
  ['read_group', '[[], ["emails:array_agg(email)"], [], 0, 5]', '{}'],
  ['read_group', '[[], ["email:ARRAY_AGG"], [], 0, 5]', '{}'],
  ['read_group', '[[], ["email:\\u0061rray_agg"], [], 0, 5]', '{}'],
  ['read_group', '[[]]', '{"fields": {"email:array_agg": 1}, "groupby": [], "limit": 5}'],
  ['web_read_group', '[[], ["email:array_agg"], ["a"], 5]', '{}'],
  ['formatted_read_group', '[[], ["a"], ["id:recordset"], [], 0, 5]', '{}'],
  ['formatted_read_group', '[[], ["a"]]', '{"aggregates": ["id:array_agg_distinct"], "limit": 5}'],
  ['web_read_group', '[[], ["a"], ["a"], 5]', '{"expand": true}'],
  ['web_read_group', '[[], ["a"], ["a"], 5, 0, "a", true, true]', '{}'],
  ['web_read_group', '[[], ["a"], [], 5]', '{"unfold_read_specification": {}}'],
  ['web_save', '[[], [{}, {}], {}]', '{}'],
  ['web_save', '[[]]', '{"vals": [{}], "specification": {}}'],
])('%s %s %s cannot be bounded', (method, params, keyword) => {
  expect(count(method, readArguments(params, keyword))).toMatchObject({ asked: null, canLower: false });
});

describe('Odoo ignores the limit of', () => {
  const read = (model: string, method: string, params: string, keyword = '{}') =>
    countRecords(model, method, readArguments(params, keyword), 1000);
  const UNBOUNDED = { asked: null, canLower: false };
  const EXPANDED = { ...UNBOUNDED, advice: expect.stringContaining('Send `lazy: false`') };

  test.each([
    ['product.template', 'read_group', '[[], ["categ_id"], ["categ_id"], 0, 5]', '{}'],
    ['product.template', 'read_group', '[[], ["categ_id"], "categ_id", 0, 5]', '{}'],
    ['product.template', 'read_group', '[[], ["categ_id"], ["categ_id", "type"], 0, 5, "x", true]', '{}'],
    ['product.template', 'web_read_group', '[[], [], ["categ_id"], 5]', '{"lazy": true}'],
    // Fields of 19.
    ['res.partner', 'read_group', '[[], [], ["grade_id"], 0, 5]', '{}'],
    ['project.task', 'read_group', '[[], [], ["personal_stage_type_id"], 0, 5]', '{}'],
    [
      'hr.attendance',
      'read_group',
      '[[]]',
      '{"fields": [], "groupby": ["\\u0065mployee_id:x"], "limit": 5, "lazy": 1}',
    ],
  ])('groups that list all records of a model: %s %s %s %s', (model, method, params, keyword) => {
    expect(read(model, method, params, keyword)).toEqual(EXPANDED);
  });

  test('`web_read_group` of 19, which has no `fields`, keeps to it', () => {
    const keyword = '{"groupby": ["categ_id"], "aggregates": ["__count"], "limit": 5}';
    expect(read('product.template', 'web_read_group', '[[]]', keyword)).toEqual({ asked: 5, canLower: true });
  });

  test.each([
    ['product.template', '[[], ["categ_id"], ["type", "categ_id"], 0, 5]', '{}'],
    ['product.template', '[[], ["categ_id"], ["categ_id"], 0, 5, "x", false]', '{}'],
    ['product.template', '[[], ["categ_id"], [], 0, 5]', '{"lazy": false}'],
    ['res.partner', '[[], ["categ_id"], ["categ_id"], 0, 5]', '{}'],
  ])('no other groups: %s %s %s', (model, params, keyword) => {
    expect(read(model, 'read_group', params, keyword)).toEqual({ asked: 5, canLower: true });
  });

  test.each([
    ['sale.order', 'read_group', '[[], [], ["date_order"], 0, 5]', '{"context": {"fill_temporal": {}}}'],
    ['sale.order', 'read_group', '[[], [], ["date_order"], 0, 5]', '{"context": [["fill_temporal", 1]]}'],
    ['sale.order', 'web_read_group', '[[], [], ["date_order"], 5]', '{"context": {"fill_temporal": true}}'],
    [
      'account.account',
      'name_search',
      '[""]',
      '{"limit": 5, "context": {"partner_id": 1, "move_type": "out_invoice"}}',
    ],
    ['account.code.mapping', 'search_read', '[[["account_id", "in", [1, 2]]], ["code"], 0, 1]', '{}'],
  ])('%s %s %s %s', (model, method, params, keyword) => {
    expect(read(model, method, params, keyword)).toMatchObject(UNBOUNDED);
  });

  test('the advice names the member of the context', () => {
    const groups = read('sale.order', 'read_group', '[[], [], ["a"]]', '{"context": {"fill_temporal": {}}}');
    expect(groups?.advice).toBe('leave `fill_temporal` out of the context');
    const codes = read('account.code.mapping', 'search_read', '[[], ["code"], 0, 1]');
    expect(codes).toEqual(UNBOUNDED);
  });

  test('no context with other members', () => {
    const context = '{"limit": 5, "context": {"partner_id": 1, "fill_temporal": false}}';
    expect(read('account.account', 'name_search', '[""]', context)).toEqual({ asked: 5, canLower: true });
    expect(read('sale.order', 'read_group', '[[], [], ["date_order"]]', context)?.asked).toBe(5);
    const empty = '{"limit": 5, "context": []}';
    expect(read('sale.order', 'read_group', '[[], [], ["date_order"]]', empty)?.asked).toBe(5);
  });
});

test.each(['14.0', '15.0', '16.0', '17.0', '18.0', '19.0'])(
  'positions of `limit` are those of Odoo %s',
  (version) => {
    const file = new URL(`../../sandbox/recordings/signatures-${version}.json`, import.meta.url);
    const models: Record<string, Record<string, { params: string[]; ids: boolean }>> = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    const seen = new Set<string>();
    for (const methods of Object.values(models)) {
      for (const [method, { params, ids }] of Object.entries(methods)) {
        const expected = findLimitPosition(method);
        if (expected === null) continue;
        seen.add(method);
        expect({ method, ids, at: params.findIndex((param) => /^limit\b/.test(param)) }).toEqual({
          method,
          ids: false,
          at: expected,
        });
      }
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(['search', 'search_read', 'name_search', 'web_search_read', 'read_group']),
    );
  },
);

test('every read-only method has a row, unless it has no bound', () => {
  const file = new URL('../../sandbox/recordings/signatures-19.0.json', import.meta.url);
  const models: Record<string, Record<string, object>> = JSON.parse(readFileSync(file, 'utf8'));
  const names = new Set(Object.values(models).flatMap(Object.keys));
  const unbounded = [...names]
    .filter((method) => isReadOnlyMethod(method))
    .filter(
      (method) => count(method, readArguments('[[1]]'))?.asked === null && findLimitPosition(method) === null,
    );
  expect(unbounded.sort()).toEqual(['formatted_read_grouping_sets', 'read_progress_bar']);
  expect(countRecords('res.users', 'has_group', readArguments('[]'), 5)).toBeNull();
});
