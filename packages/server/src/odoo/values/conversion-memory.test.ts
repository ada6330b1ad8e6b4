/** The code of the conversion memory and the conversion of single members do the same. fast-check prints the seed. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CODE_FILE, digestAssembly } from '../../../../../scripts/compile-assembly.ts';
import { countCases } from '../../../test/random-cases.ts';
import { convert, cut, printedResult, shapeOf, TYPES, token } from '../../../test/values/printed-records.ts';
import { copyLent } from '../../streams/lent-piece.ts';
import { ConversionMemory, INPUT_BYTES, shareConversionMemory } from './conversion-memory.ts';
import type { RecordShape } from './record-shape.ts';
import { ResultConverter } from './result-converter.ts';

/** Without code, each member is converted on its own. */
const PLAIN = new ConversionMemory(null);
const LINES = shapeOf(TYPES);
const NESTED = shapeOf(
  TYPES,
  new Map([
    ['line_ids', LINES],
    ['partner_id', LINES],
  ]),
);

/** The second conversion knows no layout of an earlier result, because its types are others each time. */
function convertBoth(pieces: readonly Buffer[], shape: RecordShape, form: 'list' | 'page') {
  const unseen = { ...shape, types: new Map(shape.types) };
  return [convert(pieces, form, shape), convert(pieces, form, unseen, PLAIN)] as const;
}

/** Records of the same few forms, one after the other: their members are known after the first ones. */
const repeated = fc
  .tuple(printedResult, printedResult, fc.integer({ min: 1, max: 20 }))
  .map(([first, second, count]) => {
    const members = [first, second].map(({ text }) => text.slice(1, -1)).filter((text) => text !== '');
    return Array.from({ length: count }, () => members.join(', ')).join(', ');
  });
const bytesOf = (text: string) => [...Buffer.from(text)];
const change = fc.record({
  at: fc.nat(),
  removed: fc.nat(3),
  added: fc.oneof(
    fc.array(fc.nat(255), { maxLength: 3 }),
    token.map(bytesOf),
    fc.constantFrom(...['\\', '"', '\\"', ' ', '!', '-', '01', '}, {', '], ['].map(bytesOf)),
  ),
});

test('the code runs on this machine', () => {
  expect(shareConversionMemory().hasCode).toBe(true);
});

test('the code was compiled from the present source; if not, run `npm run assembly`', () => {
  expect(readFileSync(CODE_FILE, 'utf8')).toContain(`Digest: ${digestAssembly()}\n`);
});

describe('members that the code converts, and members that are converted one by one, give the same', () => {
  test('in results of Odoo, however their bytes are cut', () => {
    fc.assert(
      fc.property(repeated, fc.array(fc.nat(900), { maxLength: 12 }), (records, cuts) => {
        const [fast, plain] = convertBoth(cut(Buffer.from(`[${records}]}`), cuts), LINES, 'list');
        expect(fast).toBe(plain);
      }),
      { numRuns: countCases(200) },
    );
  });

  test('in results with records in records', () => {
    const nested = fc
      .tuple(repeated, repeated, fc.integer({ min: 1, max: 8 }))
      .map(([outer, inner, count]) => {
        const [one] = inner.split('}, {');
        const single = one!.endsWith('}') ? one! : `${one}}`;
        const record = `{"id": 7, "line_ids": [${inner}], "partner_id": ${single || 'false'}, "stamp": false}`;
        return Array.from({ length: count }, () => `${record}, ${outer}`).join(', ');
      });
    fc.assert(
      fc.property(nested, fc.array(fc.nat(900), { maxLength: 12 }), fc.boolean(), (records, cuts, isPage) => {
        const text = isPage ? `{"length": 2, "records": [${records}]}}` : `[${records}]}`;
        const [fast, plain] = convertBoth(cut(Buffer.from(text), cuts), NESTED, isPage ? 'page' : 'list');
        expect(fast).toBe(plain);
      }),
      { numRuns: countCases(200) },
    );
  });

  test('in hostile bytes', () => {
    fc.assert(
      fc.property(
        repeated,
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(900), { maxLength: 12 }),
        fc.constantFrom(LINES, NESTED),
        (records, changes, cuts, shape) => {
          const bytes = bytesOf(`[${records}, ${records}]}`);
          for (const { at, removed, added } of changes) bytes.splice(at % bytes.length, removed, ...added);
          const [fast, plain] = convertBoth(cut(Buffer.from(bytes), cuts), shape, 'list');
          expect(fast).toBe(plain);
        },
      ),
      { numRuns: countCases(250) },
    );
  });

  test('at every cut of a record of every type', () => {
    const record = Object.entries({
      id: '1',
      name: '"A \\"quoted\\" name of more than sixteen bytes"',
      active: 'false',
      partner_id: '[10, "Deco Addict, a name of more than sixteen bytes"]',
      line_ids: '[1, 2, 3, 4, 5, 6, 7, 8]',
      source: '"res.partner,3"',
      stamp: '"2026-10-21 01:31:00"',
      day: 'false',
      amount: '-1234567.125',
      data: '{"a": [false, "]"]}',
      res_id: '7',
      length: '0',
    })
      .map(([name, value]) => `"${name}": ${value}`)
      .join(', ');
    const bytes = Buffer.from(`[{${record}}, {${record}}, {${record}}]}`);
    const whole = convert([bytes], 'list', LINES, PLAIN);
    expect(whole).toContain('"stamp": "2026-10-21T01:31:00Z"');
    for (let at = 0; at <= bytes.length; at++)
      expect(convert([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
  });

  test('in records with more members than a plan has, and with names that are longer than its texts', () => {
    const members = Array.from({ length: 1200 }, (_, index) => `x_${'n'.repeat(index % 80)}_${index}`);
    const types = new Map(members.map((name) => [name, TYPES.get('stamp')!]));
    const record = `{${members.map((name) => `"${name}": false`).join(', ')}}`;
    const bytes = Buffer.from(`[${record}, ${record}, ${record}]}`);
    const [fast, plain] = convertBoth([bytes], shapeOf(types), 'list');
    expect(fast).toBe(plain);
    expect(fast.match(/null/g)).toHaveLength(3 * members.length);
  });
});

test('a value that grows most still fits into the output', () => {
  const record = '{"source":"b,1"},';
  const bytes = Buffer.from(`[${record.repeat(Math.ceil((2 * INPUT_BYTES) / record.length))}`);
  expect(convert([bytes])).toBe(convert(cut(bytes, [1000]), 'list', LINES, PLAIN));
});

test('outputs that are not given back are not written again, and further ones are copies', () => {
  const memory = shareConversionMemory();
  const before = memory.lentOutputs;
  const push = (index: number) => {
    const converter = new ResultConverter(shapeOf(TYPES), 'list');
    return converter.push(Buffer.from(`[{"id": ${index}, "day": false}, `));
  };
  const pieces = Array.from({ length: 40 }, (_, index) => push(index));
  expect(memory.lentOutputs).toBe(16);
  expect(pieces.filter(({ roomBytes }) => roomBytes === 0)).toHaveLength(40 - (16 - before));
  for (const [index, piece] of pieces.entries())
    expect(Buffer.from(copyLent(piece)).toString()).toBe(`[{"id": ${index}, "day": null},`);
  expect(memory.lentOutputs).toBe(before);
});
