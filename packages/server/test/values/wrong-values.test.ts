/**
 * Tests docs/values.md#writing: a value that has none of the documented forms is refused with its path, and nothing is
 * sent. Odoo would silently store something else, or fail with an exception of Python.
 */

import { readDocument } from '@erp-proxy/json';
import { convertWrittenValues, type FieldTypes, readFieldTypes } from '@erp-proxy/odoo/values';
import { describe, expect, test } from 'vitest';
import { RECORDED_VERSIONS, readRecordedModels } from '../data/recorded-fields.ts';
import { EACH_VERSION, startStage } from '../mcp/stage.ts';

const FORMS = {
  text: ['"a"', '""', '"false"', '"20"', '"yesterday"', '"2026-13-01"', '"2026-01-01T00:00:00"', '"NaN"'],
  day: ['"2026-01-01"'],
  time: ['"2026-01-01 00:00:00"', '"2026-01-01T00:00:00Z"', '"2026-01-01 02:00+02:00"'],
  badTime: [
    '"2026-02-30 00:00:00"',
    '"2026-01-01 25:00:00"',
    '"2026-01-01 00:00:00.5"',
    '"today"',
    '" 2026-01-01"',
  ],
  reference: ['"res.partner,3"'],
  badReference: ['"res.partner"', '"res.partner,0"', '"res.partner,x"', '",3"'],
  boolean: ['true'],
  id: ['5', '12345678901234567890'],
  // Numbers equal to an integer. Odoo takes them for integers, but not as ids.
  float: ['20.0', '2e1'],
  integer: ['0', '-3'],
  fraction: ['1.5', '-1e-3'],
  pair: ['[20, "Belgium"]', '[20, false]', '[20, null]'],
  badPair: ['[20.0, "Belgium"]', '[20, true]', '[20, "Belgium", 1]'],
  ids: ['[20]', '[20, 21]'],
  list: [
    '[20.0]',
    '["a"]',
    '[0]',
    '[-1]',
    '[20, "a", 1]',
    '[true, "a"]',
    '[[20, "a"]]',
    '[{"id": 20}]',
    '[null]',
  ],
  empty: ['[]'],
  commands: [
    '[[6, 0, [20]]]',
    '[[4, 20]]',
    '[[5]]',
    '[[3, 20, 0], [2, 21, false]]',
    '[[0, 0, {}]]',
    '[[1, 20, {}]]',
  ],
  badCommands: [
    '[[7, 20]]',
    '[[4]]',
    '[[4, 20.0]]',
    '[[6, 0, [20.0]]]',
    '[[4, "20"]]',
    '[[6, 0, 20]]',
    '[[6, 0, ["a"]]]',
    '[[0, 0, 5]]',
    '[[1, 0, {}]]',
    '[["set", [1]]]',
  ],
  link: ['{"id": 20}', '{"id": 20, "display_name": "Belgium"}', '{"id": null}', '{"id": false}'],
  model: ['{"model": "res.partner", "id": 3}'],
  x2many: ['{"set": [20]}', '{"add": [20], "remove": [21]}', '{"clear": true}', '{}', '{"create": [{}]}'],
  object: [
    '{"a": 1}',
    '{"id": "20"}',
    '{"id": true}',
    '{"id": 20.0}',
    '{"set": [20.0]}',
    '{"name": "Belgium"}',
    '{"set": 20}',
    '{"set": ["a"]}',
  ],
} as const;
type Form = keyof typeof FORMS;

/** The forms that each type takes, in addition to null and false. */
const TAKEN: Record<string, readonly Form[]> = {
  boolean: ['boolean'],
  char: ['text', 'day', 'time', 'badTime', 'reference', 'badReference'],
  text: ['text', 'day', 'time', 'badTime', 'reference', 'badReference'],
  html: ['text', 'day', 'time', 'badTime', 'reference', 'badReference'],
  // The selections of a user's groups have integers as values.
  selection: ['text', 'day', 'time', 'badTime', 'reference', 'badReference', 'id', 'float'],
  binary: ['text', 'day', 'time', 'badTime', 'reference', 'badReference'],
  integer: ['id', 'float', 'integer'],
  many2one_reference: ['id', 'float', 'integer'],
  float: ['id', 'float', 'integer', 'fraction'],
  monetary: ['id', 'float', 'integer', 'fraction'],
  date: ['day'],
  datetime: ['day', 'time'],
  many2one: ['id', 'pair', 'link'],
  reference: ['reference', 'model'],
  one2many: ['ids', 'empty', 'commands', 'x2many'],
  many2many: ['ids', 'empty', 'commands', 'x2many'],
};
/** Types whose values have any form. */
const FREE = ['json', 'properties', 'properties_definition'];

const ALL = (Object.keys(FORMS) as Form[]).flatMap((form) => FORMS[form].map((value) => ({ form, value })));

test('at least thirty wrong values are tried on each type', () => {
  for (const [type, taken] of Object.entries(TAKEN)) {
    const wrong = ALL.filter(({ form }) => !taken.includes(form));
    expect({ type, count: wrong.length }).toEqual({ type, count: Math.max(30, wrong.length) });
  }
});

function convert(types: FieldTypes, field: string, value: string) {
  const bytes = Buffer.from(`{${JSON.stringify(field)}: ${value}}`);
  const { root } = readDocument(bytes);
  return convertWrittenValues(bytes, root, 'x', { types: new Map([['x', types]]), isAsked: () => true });
}

describe.each(RECORDED_VERSIONS)('fields of Odoo %s', (version) => {
  const byType = new Map<string, { name: string; types: FieldTypes }>();
  const described = [...readRecordedModels(version).values()];
  for (const fields of described) {
    const types = readFieldTypes(Buffer.from(JSON.stringify(Object.fromEntries(fields))))!;
    for (const [name, { type }] of types) if (!byType.has(type)) byType.set(type, { name, types });
  }

  test('are of types with documented forms', () => {
    expect(byType.size).toBeGreaterThan(15);
    expect([...byType.keys()].filter((type) => TAKEN[type] === undefined && !FREE.includes(type))).toEqual(
      [],
    );
  });

  test('take the documented forms, and no other ones', () => {
    for (const [type, { name, types }] of byType)
      for (const { form, value } of [
        ...ALL,
        { form: 'null', value: 'null' },
        { form: 'null', value: 'false' },
      ]) {
        const isTaken = form === 'null' || FREE.includes(type) || TAKEN[type]!.includes(form as Form);
        const { kind, ...more } = convert(types, name, value);
        expect({ type, value, isRefused: kind === 'invalid' }).toEqual({ type, value, isRefused: !isTaken });
        if (kind === 'invalid')
          expect(more).toMatchObject({ value: { path: expect.stringContaining(name) } });
      }
  });
});

describe.each(EACH_VERSION)('Odoo %s over %s', (version, protocol) => {
  const WRONG: [model: string, field: string, value: unknown][] = [
    ['res.partner', 'country_id', 'Belgium'],
    ['res.partner', 'country_id', '20'],
    ['res.partner', 'country_id', true],
    ['res.partner', 'country_id', [20]],
    ['res.partner', 'country_id', 1.5],
    ['res.partner', 'country_id', { name: 'x' }],
    ['res.partner', 'is_company', 'false'],
    ['res.partner', 'is_company', 2],
    ['res.partner', 'ref', { a: 1 }],
    ['res.partner', 'ref', ['x']],
    ['res.partner', 'category_id', 'VIP'],
    ['sale.order', 'date_order', 'yesterday'],
    ['sale.order', 'date_order', 5],
    ['sale.order', 'date_order', '2026-01-01T00:00:00'],
    ['sale.order', 'validity_date', '2026-01-01 00:00:00'],
  ];

  test('a wrong value is refused with its path, and changes nothing; tools refuse it too', async () => {
    const { call, proxy } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const id = 1;
    const run = (model_id: string, action: string, params: unknown[]) =>
      proxy.call(
        { action, model_id, params, erp_instance: { name: 'prod' } },
        { prefer: 'values=normalized' },
      );
    for (const [model, field, value] of WRONG) {
      const before = await run(model, 'read', [[id], [field, 'write_date']]);
      const { json } = await run(model, 'write', [[id], { [field]: value }]);
      expect({ field, value, error: json.error?.data }).toMatchObject({
        error: { type: 'invalid_params', path: expect.stringMatching(`^params\\[1\\]\\.${field}`) },
      });
      const told = await call('update_records', { model, ids: [id], values: { [field]: value } });
      expect({ field, value, ...told }).toMatchObject({
        isError: true,
        text: expect.stringMatching(`${field}.* must be`),
      });
      expect((await run(model, 'read', [[id], [field, 'write_date']])).json).toEqual(before.json);
    }
  });

  test('the pair that a plain read returns is written as its id', async () => {
    const { proxy } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const run = (action: string, params: unknown[], headers = {}) =>
      proxy.call({ action, model_id: 'res.partner', params, erp_instance: { name: 'prod' } }, headers);
    const [{ country_id: pair }] = (await run('search_read', [[['country_id', '!=', false]], ['country_id']]))
      .json.result;
    const { json } = await run('write', [[1], { country_id: pair }], { prefer: 'values=normalized' });
    expect(json.result).toBe(true);
    expect((await run('read', [[1], ['country_id']])).json.result).toEqual([{ id: 1, country_id: pair }]);
  });
});
