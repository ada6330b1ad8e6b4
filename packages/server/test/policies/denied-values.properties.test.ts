/**
 * Tests that no field that shows the value of a denied field is sent, for the models of real servers. The descriptions
 * of fields are those of Odoo 16, 18 and 19 with demo data (`fields_get`); the test follows them and the table of
 * computed fields independently. It does not know the rows of field-sources.ts.
 */

import { COMPUTED_FIELDS, listFieldUses } from '@erp-proxy/odoo/fields';
import { type FieldTypes, readFieldTypes } from '@erp-proxy/odoo/values';
import { decideFields, FieldRules, finish, listAllowedFields } from '@erp-proxy/policy/fields';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../../odoo/test/read-arguments.ts';
import { RECORDED_VERSIONS, type RecordedModels, readRecordedModels } from '../data/recorded-fields.ts';
import { countCases } from '../random-cases.ts';

const CASES = countCases(4000);

describe.each(RECORDED_VERSIONS)('Odoo %s', (version) => {
  const models = readRecordedModels(version);
  const known = { types: describeTypes(models), orders: new Map<string, string>() };
  const shown = new Map<string, ReadonlySet<string>>();
  const listShown = (key: string) => {
    const found = shown.get(key) ?? followValues(models, key);
    shown.set(key, found);
    return found;
  };
  const isSent = (denied: string, [model, method, params]: Call) => {
    const uses = listFieldUses(model, method, readArguments(params));
    const request = { model, method, isNamed: true, uses };
    return finish(decideFields(denyField(denied), request, known)).kind === 'allowed';
  };
  const fields = [...models].flatMap(([model, of]) => [...of.keys()].map((field) => `${model} ${field}`));
  const aliases = fields.flatMap((field) => [...listShown(field)].map((denied) => [field, denied] as const));

  test('has fields that show others, by each way', () => {
    const has = (field: string, denied: string) => listShown(field).has(denied);
    expect(aliases.length).toBeGreaterThan(1000);
    // In this order: by `related`, by `depends`, by the table, and by the table for a field that writes another one.
    expect(has('sale.order.line order_partner_id', 'sale.order partner_id')).toBe(true);
    expect(has('res.partner email_formatted', 'res.partner email')).toBe(true);
    expect(has('product.product code', 'product.product default_code')).toBe(true);
    expect(has('ir.attachment image_src', 'ir.attachment datas')).toBe(true);
  });

  test('no call is sent that names a field with a denied value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...aliases), fc.nat(), ([field, denied], draw) => {
        const calls = makeCalls(models, field);
        const call = calls[draw % calls.length]!;
        expect(isSent(denied, call), `${denied} is denied: ${call.join(' ')}`).toBe(false);
      }),
      { numRuns: CASES },
    );
  });

  test('a read without fields gets none with a denied value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...aliases), ([field, denied]) => {
        const [model = '', name = ''] = field.split(' ');
        const unnamed = { canList: true, tail: 'shown', name: 'fields', position: 1 } as const;
        const listed = finish(listAllowedFields(denyField(denied), model, unnamed, known));
        // `lacking`: the proxy would ask for a model that was not recorded, and would not send the read before.
        const names = listed.kind === 'listed' ? listed.fields : [];
        expect(listed.kind).not.toBe('all');
        expect(names, `${denied} is denied`).not.toContain(name);
      }),
      { numRuns: countCases(400) },
    );
  });

  test('fields that are computed from nothing are sent, whatever other field is denied', () => {
    const plain = fields.filter((field) => {
      const [model = '', name = ''] = field.split(' ');
      const { type, store, related, depends, relation } = models.get(model)!.get(name)!;
      const isPlain = store && related === undefined && depends.length === 0 && relation === undefined;
      // A property can lead to records of any model.
      if (type.startsWith('properties')) return false;
      return isPlain && listShown(field).size === 0;
    });
    fc.assert(
      fc.property(fc.constantFrom(...plain), fc.constantFrom(...fields), (field, denied) => {
        const [model = '', name = ''] = field.split(' ');
        fc.pre(!KNOWN_BY_NAME.has(name) && name !== denied.split(' ')[1]);
        expect(isSent(denied, [model, 'read', `[[1], ["${name}"]]`]), `${denied} is denied: ${field}`).toBe(
          true,
        );
      }),
      { numRuns: CASES },
    );
  });
});

/** Fields that other fields write by other means than an inverse, and that rows of field-sources.ts name. */
const KNOWN_BY_NAME = new Set(['partner_gid']);

type Call = [model: string, method: string, params: string];

/** Calls that use the value of a field: of its own model, or of a model with a field that leads to it. */
function makeCalls(models: RecordedModels, key: string): Call[] {
  const [model = '', field = ''] = key.split(' ');
  const calls: Call[] = [
    [model, 'read', `[[1], ["${field}"]]`],
    [model, 'search_read', `[[], ["${field}"]]`],
    [model, 'web_read', `[[1], {"${field}": {}}]`],
    [model, 'search_count', `[[["${field}", "=", 1]]]`],
    [model, 'search', `[["|", ["id", "=", 1], ["${field}", "!=", false]]]`],
    [model, 'search', `[[], 0, 1, "${field} desc"]`],
    [model, 'read_group', `[[], [], ["${field}"]]`],
    [model, 'read_group', `[[], ["${field}:max"], ["id"]]`],
    [model, 'export_data', `[[1], ["${field}"]]`],
    [model, 'default_get', `[["${field}"]]`],
    [model, 'mapped', `[[1], "${field}"]`],
  ];
  for (const [from, fields] of models) {
    const lead = [...fields].find(([, { relation, type }]) => relation === model && type === 'many2one');
    if (lead === undefined) continue;
    calls.push(
      [from, 'export_data', `[[1], ["${lead[0]}/${field}"]]`],
      [from, 'search', `[[["${lead[0]}.${field}", "=", 1]]]`],
      [from, 'web_read', `[[1], {"${lead[0]}": {"fields": {"${field}": {}}}}]`],
    );
  }
  return calls;
}

function denyField(key: string): FieldRules {
  const [model = '', field = ''] = key.split(' ');
  return new FieldRules({ [model]: { deny: [field] } });
}

/**
 * The fields whose value a field has: fields that it is related to or computed from, as far as models were recorded.
 */
function followValues(models: RecordedModels, key: string): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = [key];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { sources, writers } = listEdges(models, at);
    for (const source of [...sources, ...writers]) {
      if (found.has(source) || source === key) continue;
      found.add(source);
      if (sources.includes(source)) pending.push(source);
    }
  }
  return found;
}

const TABLE: ReadonlyMap<string, string> = new Map(
  COMPUTED_FIELDS.trim()
    .split('\n')
    .flatMap((line) => {
      const [model, ...rows] = line.split(' ');
      return rows.map((row): [string, string] => {
        const [, name = '', sources = ''] = /^(\w+)=?(.*)$/.exec(row)!;
        return [`${model} ${name}`, sources];
      });
    }),
);

function listEdges(models: RecordedModels, key: string): { sources: string[]; writers: string[] } {
  const [model = '', field = ''] = key.split(' ');
  const described = models.get(model)?.get(field);
  // Rows that this test does not know determine what a display name shows.
  if (described === undefined || field === 'display_name') return { sources: [], writers: [] };
  const row = TABLE.get(key) ?? TABLE.get(`any ${field}`);
  const listed = row === undefined || row === '' ? [] : row.split(',');
  const writers = listed.filter((each) => each.startsWith('=')).map((each) => `${model} ${each.slice(1)}`);
  const sources = listed
    .filter((each) => each !== '*' && !each.startsWith('='))
    .map((each) => (each.includes(':') ? each.replace(':', ' ') : `${model} ${each}`));
  const isFollowed = !described.store || row === undefined || listed.includes('*');
  const paths = described.related !== undefined ? [described.related] : isFollowed ? described.depends : [];
  for (const path of paths) {
    const source = followPath(models, model, path);
    if (source !== null) sources.push(source);
  }
  const isRecorded = (each: string) => models.get(each.split(' ')[0]!)?.has(each.split(' ')[1]!) === true;
  return {
    sources: sources.filter((each) => isRecorded(each) && !each.endsWith(' id')),
    writers: writers.filter(isRecorded),
  };
}

function followPath(models: RecordedModels, model: string, path: string): string | null {
  const names = path.split('.');
  let at: string | undefined = model;
  for (const name of names.slice(0, -1)) at = at && models.get(at)?.get(name)?.relation;
  return at === undefined ? null : `${at} ${names.at(-1)}`;
}

/** The types as the proxy reads them from an answer of Odoo. */
function describeTypes(models: RecordedModels): Map<string, FieldTypes> {
  return new Map(
    [...models].map(([model, fields]) => {
      const json = JSON.stringify(Object.fromEntries(fields));
      return [model, readFieldTypes(Buffer.from(json))!];
    }),
  );
}
