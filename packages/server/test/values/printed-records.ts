/** Makes random results in Odoo's form, and the same results with normalized values. */

import { type FieldTypes, type RecordShape, ResultConverter, type ResultForm } from '@erp-proxy/odoo/values';
import fc from 'fast-check';

/** Fields of every type of Odoo 14 to 19. */
export const TYPES: FieldTypes = new Map(
  Object.entries({
    id: 'integer',
    name: 'char',
    active: 'boolean',
    partner_id: 'many2one',
    line_ids: 'one2many',
    tag_ids: 'many2many',
    source: 'reference',
    stamp: 'datetime',
    day: 'date',
    amount: 'monetary',
    data: 'json',
    note: 'text',
    body: 'html',
    state: 'selection',
    image: 'binary',
    ratio: 'float',
    res_id: 'many2one_reference',
    extra: 'properties',
    extra_definition: 'properties_definition',
    constructor: 'char',
    __proto__x: 'datetime',
    records: 'many2one',
    length: 'integer',
    'naïve "é"': 'datetime',
  }).map(([name, type]) => [
    name,
    {
      type,
      relation: type === 'many2one' ? 'res.partner' : null,
      related: null,
      inverse: null,
      computedFrom: [],
    },
  ]),
);

export const shapeOf = (types: FieldTypes, nested: RecordShape['nested'] = new Map()): RecordShape => ({
  model: 'x.model',
  types,
  nested,
});

/** Converts the pieces. A field that is not in the shape keeps its bytes. */
export function convert(
  pieces: readonly string[] | readonly Buffer[],
  form: ResultForm = 'list',
  shape = shapeOf(TYPES),
): string {
  const converter = new ResultConverter(shape, form);
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(converter.push(Buffer.from(piece as string)));
    while (converter.unknown !== null) out.push(converter.learn());
  }
  out.push(converter.end());
  return Buffer.concat(out).toString('utf8');
}

export const token = fc.constantFrom(
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  ' ',
  '"name"',
  '"stamp": ',
  '"partner_id": ',
  'false',
  'null',
  '[1, "a"]',
  '"2026-10-21 01:31:00"',
  '"',
  '\\',
  '5',
  '{"id": 1}',
  ', ',
);

const jsonText = fc.json({ maxDepth: 3 });
const nameText = fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text));
const id = fc.nat(10 ** 6);
const same = (text: fc.Arbitrary<string>) => text.map((value) => [value, value] as const);
const empty = fc.constant(['false', 'null'] as const);
const VALUES: Record<string, fc.Arbitrary<readonly [string, string]>> = {
  integer: fc.oneof(empty, same(fc.integer().map(String))),
  char: fc.oneof(empty, same(nameText)),
  boolean: same(fc.constantFrom('false', 'true')),
  many2one: fc.oneof(
    empty,
    same(id.map(String)),
    fc
      .tuple(id, nameText)
      .map(([number, name]) => [`[${number}, ${name}]`, `{"id": ${number}, "name": ${name}}`] as const),
  ),
  one2many: same(fc.array(id).map((ids) => JSON.stringify(ids))),
  many2many: same(fc.array(id).map((ids) => JSON.stringify(ids))),
  reference: fc.oneof(
    empty,
    id.map((number) => [`"a.b_c,${number}"`, `{"model": "a.b_c", "id": ${number}}`] as const),
  ),
  datetime: fc.oneof(
    empty,
    same(nameText),
    fc.date({ min: new Date('1900-01-01'), max: new Date('2999-01-01'), noInvalidDate: true }).map((date) => {
      const [day, time] = date.toISOString().slice(0, 19).split('T');
      return [`"${day} ${time}"`, `"${day}T${time}Z"`] as const;
    }),
  ),
  date: fc.oneof(empty, same(fc.constant('"2026-10-21"'))),
  monetary: fc.oneof(empty, same(fc.constantFrom('1.0', '-0.5', '1e3'))),
  json: fc.oneof(empty, same(jsonText.filter((text) => text !== 'false'))),
};

const SAME_AS: Record<string, string> = {
  text: 'char',
  html: 'char',
  selection: 'char',
  binary: 'char',
  float: 'monetary',
  many2one_reference: 'integer',
  properties: 'json',
  properties_definition: 'json',
};

const gap = fc.constantFrom('', ' ', '\n ');
const listValues = (type: string) => VALUES[SAME_AS[type] ?? type]!;
const member = fc.constantFrom(...TYPES.keys()).chain((name) =>
  fc.tuple(listValues(TYPES.get(name)!.type), gap, gap).map(([[text, converted], before, after]) => {
    const head = `${before}${JSON.stringify(name)}:${after}`;
    return [head + text + before, head + converted + before] as const;
  }),
);
const record = fc
  .array(member, { maxLength: 8 })
  .map((members) => [
    `{${members.map(([text]) => text).join(',')}}`,
    `{${members.map(([, converted]) => converted).join(',')}}`,
  ]);
export const printedResult = fc
  .tuple(fc.array(record, { maxLength: 5 }), fc.nat(3), gap)
  .map(([records, repeat, between]) => {
    const all = Array.from({ length: repeat + 1 }, () => records).flat();
    const print = (index: 0 | 1) => `[${all.map((each) => each[index]).join(`,${between}`)}]`;
    return { text: print(0), converted: print(1) };
  });

export function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
}

export function cutAll(text: string): Buffer[] {
  return [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
}
