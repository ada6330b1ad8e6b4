import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../../test/open-environment.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Version } from '../../versions/personality.ts';

const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19];

function open(version: Version) {
  const { call } = openEnvironment(version);
  const select = (method: string, model: string, field: string, named: JsonObject = {}): JsonObject =>
    call(model, `search_panel_select_${method}`, [field], named);
  return {
    call,
    range: (model: string, field: string, named?: JsonObject) => select('range', model, field, named),
    multi: (model: string, field: string, named?: JsonObject) => select('multi_range', model, field, named),
  };
}

describe.each(VERSIONS)('Odoo %i', (version) => {
  test('a range of records has the parents of each, and counts those below', () => {
    const { call, range } = open(version);
    call('res.partner', 'write', [[9, 10], { category_id: [[6, 0, [3]]], user_id: 2 }]);
    const categories = { comodel_domain: [['id', '<', 4]], enable_counters: true };
    expect(range('res.partner.category', 'parent_id', categories)).toEqual({
      parent_field: 'parent_id',
      values: [{ id: 2, display_name: 'Vendor', parent_id: false, __count: 1 }],
    });
    expect(range('res.partner.category', 'parent_id', { ...categories, expand: true })).toEqual({
      parent_field: 'parent_id',
      values: [
        { id: 3, display_name: 'Consulting Services', parent_id: 2, __count: 0 },
        { id: 1, display_name: 'Prospects', parent_id: false, __count: 0 },
        { id: 2, display_name: 'Vendor', parent_id: false, __count: 1 },
      ],
    });
    // A record whose parent is not among the records is omitted.
    const chosen = { comodel_domain: [['id', '!=', 2]], expand: true };
    expect(range('res.partner.category', 'parent_id', chosen)).toMatchObject({ values: [{ id: 1 }] });
  });

  test('without a hierarchy, values are those of the records of the search', () => {
    const { call, range } = open(version);
    call('res.partner', 'write', [[9, 10], { user_id: 2 }]);
    call('res.partner', 'write', [[11], { user_id: 8 }]);
    const named = { search_domain: [['id', '>', 8]], enable_counters: true };
    expect(range('res.partner', 'user_id', named)).toEqual({
      parent_field: false,
      values: [
        { id: 8, display_name: 'Marc Demo', __count: 1 },
        { id: 2, display_name: 'Mitchell Admin', __count: 2 },
      ],
    });
    // The other domains restrict which records are counted.
    const counted = { ...named, category_domain: [['id', '!=', 9]], filter_domain: [['id', '!=', 11]] };
    expect(range('res.partner', 'user_id', counted)).toMatchObject({
      values: [{ __count: 0 }, { __count: 1 }],
    });
    expect(range('res.partner', 'parent_id', { hierarchize: false, limit: 100 })).toMatchObject({
      parent_field: false,
    });
    expect(range('res.partner', 'user_id', { limit: 2 })).toEqual({
      error_msg: 'Too many items to display.',
    });
  });

  test('a selection has its labels, and with expand its values without records', () => {
    const { range, multi } = open(version);
    const drafts = { search_domain: [['state', '=', 'draft']] };
    const draft = { id: 'draft', display_name: 'Quotation' };
    expect(range('sale.order', 'state', drafts)).toEqual({ parent_field: false, values: [draft] });
    const { values } = multi('sale.order', 'state', { ...drafts, expand: true, enable_counters: true });
    expect(values).toContainEqual({ ...draft, __count: 3 });
    expect(values).toContainEqual({ id: 'cancel', display_name: 'Cancelled', __count: 0 });
  });

  test('several values can be grouped by a field of their records', () => {
    const { call, multi } = open(version);
    call('res.partner', 'write', [[9, 10], { category_id: [[6, 0, [3]]] }]);
    const search_domain = [['id', 'in', [9, 10, 11]]];
    const named = { search_domain, enable_counters: true, comodel_domain: [['id', '<', 4]] };
    const group = (group_by: string, more: JsonObject = {}) =>
      multi('res.partner', 'category_id', { ...named, group_by, ...more });
    const services = { id: 3, display_name: 'Consulting Services' };
    call('res.partner', 'write', [[11], { category_id: [[6, 0, [1]]] }]);
    expect(group('parent_id')).toEqual({
      values: [
        { ...services, group_id: 2, group_name: 'Vendor', __count: 2 },
        { id: 1, display_name: 'Prospects', group_id: false, group_name: 'Not Set', __count: 1 },
      ],
    });
    expect(group('color', { group_domain: { '5': [['id', '=', 9]] } })).toMatchObject({
      values: [
        { group_id: 5, group_name: 5, __count: 1 },
        { group_id: 1, __count: 1 },
      ],
    });
    expect(group('color', { limit: 2 })).toEqual({ error_msg: 'Too many items to display.' });
    const types = multi('sale.order', 'partner_id', { group_by: 'type', search_domain: [['id', '=', 1]] });
    expect(types).toMatchObject({ values: [{ group_id: 'contact', group_name: 'Contact' }] });
  });

  test('refuses other types of fields, and unknown fields', () => {
    const { range, multi } = open(version);
    expect(() => range('res.partner', 'category_id')).toThrow(
      'Only types many2one, selection are supported for category (found type many2many)',
    );
    expect(() => multi('res.partner', 'name')).toThrow(
      'Only types many2one, many2many, selection are supported for filter (found type char)',
    );
    expect(() => range('res.partner', 'nope')).toThrow('nope');
    expect(() => multi('res.partner', 'user_id', { group_by: 'nope' })).toThrow('nope');
  });

  test('a progress bar counts the listed values of each group', () => {
    const { call } = open(version);
    const bar = { field: 'state', colors: { draft: 'info', sale: 'success' } };
    expect(call('sale.order', 'read_progress_bar', [[['id', '<', 5]], 'user_id', bar])).toEqual({
      '2': { draft: 3, sale: 1 },
    });
  });
});
