import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import type { JsonObject } from '../json/value.ts';

const { search } = openEnvironment();

describe('a domain finds', () => {
  test.each([
    ['equality', [['name', '=', 'Azure Interior']], [15]],
    [
      'inequality, with rows that have no value',
      [
        ['id', 'in', [3, 15]],
        ['state_id', '!=', 13],
      ],
      [15],
    ],
    [
      'unset fields',
      [
        ['id', 'in', [3, 15]],
        ['parent_id', '=', false],
      ],
      [15],
    ],
    ['like with case', [['name', 'like', 'azure']], []],
    ['ilike without case', [['name', 'ilike', 'aZuRe']], [15]],
    [
      'not ilike',
      [
        ['id', 'in', [14, 15]],
        ['name', 'not ilike', 'azure'],
      ],
      [14],
    ],
    ['=like as a whole', [['name', '=like', 'Azure%']], [15]],
    ['=ilike with one wild letter', [['name', '=ilike', 'azure_interior']], [15]],
    ['a literal percent sign', [['name', 'ilike', '\\%']], []],
    ['=like with the end of a phone number', [['phone', '=like', '%37']], [11, 37]],
    [
      'the empty text in fields without a value',
      [
        ['ref', 'ilike', ''],
        ['id', '=', 14],
      ],
      [14],
    ],
    [
      'nothing without the empty text',
      [
        ['ref', 'not ilike', ''],
        ['id', '=', 14],
      ],
      [],
    ],
    [
      'customers without a phone',
      [
        ['is_company', '=', true],
        ['phone', '=', false],
        ['id', '<', 71],
      ],
      [14, 18],
    ],
    ['an or of two', ['|', ['id', '=', 14], ['id', '=', 15]], [14, 15]],
    ['a negation', ['!', ['id', '!=', 15]], [15]],
    [
      'an and that is left out',
      [
        ['id', '>', 13],
        ['id', '<=', 15],
      ],
      [14, 15],
    ],
    ['a nested or', ['&', ['is_company', '=', true], '|', ['id', '=', 9], ['id', '=', 10]], [9, 10]],
    ['a dotted path', [['parent_id.name', '=', 'Lumber Inc']], [34]],
    ['a path of two links', [['parent_id.country_id.code', '=', 'DE']], [40]],
    ['a many2one by name', [['parent_id', 'ilike', 'lumber']], [34]],
    [
      'a many2one by exact name',
      [
        ['country_id', '=', 'Germany'],
        ['is_company', '=', true],
      ],
      [17],
    ],
    [
      'records linked many to many',
      [
        ['category_id', 'in', [2]],
        ['id', '<', 12],
      ],
      [10],
    ],
    ['children', [['id', 'child_of', [14]]], [14, 34]],
    ['children of a name', [['id', 'child_of', 'lumber inc']], [14, 34]],
    ['parents', [['id', 'parent_of', [34]]], [14, 34]],
    ['any', [['child_ids', 'any', [['name', '=', 'Willie Burke']]]], [9]],
    [
      'not any',
      [
        ['id', 'in', [9, 14]],
        ['child_ids', 'not any', [['name', '=', 'Willie Burke']]],
      ],
      [14],
    ],
    [
      'the constant true',
      [
        [1, '=', 1],
        ['id', '=', 3],
      ],
      [3],
    ],
    ['the constant false', [[0, '=', 1]], []],
    [
      '=? without a value',
      [
        ['id', '=', 3],
        ['name', '=?', false],
      ],
      [3],
    ],
  ])('%s', (_, domain, ids) => {
    expect(search('res.partner', domain, { order: 'id' })).toEqual(ids);
  });

  test('records by conditions on themselves behind `id`, from 19 on', () => {
    const inNew = openEnvironment(19).search;
    const same = [['name', '=', 'Willie Burke']];
    const [id] = inNew('res.partner', same);
    expect(inNew('res.partner', [['id', 'any', same]])).toEqual([id]);
    expect(inNew('res.partner', [['id.name', '=', 'Willie Burke']])).toEqual([id]);
    expect(inNew('res.partner', [['id', 'not any', same]])).not.toContain(id);
    expect(() => search('res.partner', [['id', 'any', same]])).toThrow('Invalid');
    expect(() => search('res.partner', [['id.name', '=', 'a']])).toThrow();
  });

  test('archived records only on request', () => {
    expect(search('res.partner', [['id', '=', 2]])).toEqual([]);
    expect(
      search('res.partner', [
        ['id', '=', 2],
        ['active', '=', false],
      ]),
    ).toEqual([2]);
    expect(search('res.partner', [['id', '=', 2]], { context: { active_test: false } })).toEqual([2]);
  });
});

describe('an order', () => {
  test('takes several fields and directions', () => {
    expect(
      search('res.partner', [['id', 'in', [9, 15, 16, 17]]], { order: 'country_id, name desc' }),
    ).toEqual([16, 17, 9, 15]);
  });

  test('puts empty values last, and first when descending', () => {
    const domain = [['id', 'in', [3, 15]]];
    expect(search('res.partner', domain, { order: 'state_id, id' })).toEqual([3, 15]);
    expect(search('res.partner', domain, { order: 'state_id desc, id' })).toEqual([15, 3]);
  });

  test.each(['name;', 'name foo', '', ' , ', 'name desc desc', "name'"])(
    'refuses %j or uses the default',
    (order) => {
      const run = () => search('res.partner', [['id', '=', 3]], { order });
      if (order === '') expect(run()).toEqual([3]);
      else expect(run).toThrow('Invalid "order" specified');
    },
  );
});

test('name_search uses its operator for every text', () => {
  const { call } = openEnvironment();
  const find = (name: string, operator: string) =>
    (call('res.partner', 'name_search', [name, [['id', '=', 14]], operator]) as [number][]).map(([id]) => id);
  expect(find('', 'ilike')).toEqual([14]);
  expect(find('', 'not ilike')).toEqual([]);
  expect(find('', '=')).toEqual([]);
  expect(find('info@lumber.example.com', '=')).toEqual([14]);
});

test('an empty object in the context is false', () => {
  const { call, readOne } = openEnvironment();
  call('res.partner', 'write', [[14], { vat: 'X1' }]);
  const name = (show_vat: JsonObject | boolean) =>
    readOne('res.partner', 14, ['display_name'], { context: { show_vat } })['display_name'];
  expect([name({}), name(true)]).toEqual(['Lumber Inc', 'Lumber Inc ‒ X1']);
});

test.each([14, 15, 16, 17, 18, 19] as const)(
  'the group of a boolean without a value is false: %i',
  (version) => {
    const { call } = openEnvironment(version);
    const groups = call('res.partner', 'read_group', [[], [], ['is_company']]) as { is_company: unknown }[];
    expect(groups.map(({ is_company }) => is_company)).toEqual([false, true]);
    if (version < 19) return;
    const formatted = call('res.partner', 'formatted_read_group', [[], ['is_company'], ['__count']]);
    expect(formatted).toMatchObject([{ is_company: false }, { is_company: true }]);
  },
);

test('a search returns the requested slice, and limit 0 means no limit', () => {
  const all = search('res.country', [], { order: 'id' });
  expect(search('res.country', [], { order: 'id', offset: 1, limit: 2 })).toEqual(all.slice(1, 3));
  expect(search('res.country', [], { order: 'id', limit: 0 })).toEqual(all);
});
