import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { type CsvForm, listColumns, printHeader, printLongRow, printRow, USUAL_FORM } from './csv.ts';

/** The printed row of a record, without its line end. */
function print(text: string, fields: readonly string[] = ['a']): string {
  const bytes = Buffer.from(`[${text}]`);
  const row = printRow(bytes, { kind: 'object', start: 1, end: bytes.length - 1 }, listColumns(fields));
  expect(row.endsWith('\r\n')).toBe(true);
  return row.slice(0, -2);
}

test('columns are `id` and the fields, each once', () => {
  expect(printHeader(listColumns(['name', 'id', 'email']))).toBe('id,name,email\r\n');
});

test.each([
  ['null', ''],
  ['true', 'true'],
  ['false', 'false'],
  ['-5', '-5'],
  ['1.0', '1.0'],
  ['9007199254740993', '9007199254740993'],
  ['""', '""'],
  ['"A"', 'A'],
  ['"\\u00e9\\ud83d\\ude00"', 'é😀'],
  ['"a,b"', '"a,b"'],
  ['"a\\"b"', '"a""b"'],
  ['"a\\nb"', '"a\nb"'],
  ['"=1+1"', "'=1+1"],
  ['"+32 2"', "'+32 2"],
  ['"-x"', "'-x"],
  ['"@SUM(A1)"', "'@SUM(A1)"],
  ['"\\tx"', "'\tx"],
  ['"\\rx"', '"\'\rx"'],
  ['"=a,b"', '"\'=a,b"'],
  ['[]', '[]'],
  ['[3, 7]', '"[3, 7]"'],
  ['{"id": 10, "name": "Deco, Addict"}', '10'],
  ['{"model": "res.partner", "id": 3}', '"res.partner,3"'],
  ['{"id": 10, "name": "A", "x": 1}', '"{""id"": 10, ""name"": ""A"", ""x"": 1}"'],
  ['{"=x": 1}', '"{""=x"": 1}"'],
])('%s is printed as %s', (value, cell) => {
  expect(print(`{"id": 1, "a": ${value}}`)).toBe(`1,${cell}`);
});

test.each<[value: string, form: Partial<CsvForm>, cell: string]>([
  ['"=1+1"', { escapesFormulas: false }, '=1+1'],
  ['"=a,b"', { escapesFormulas: false }, '"=a,b"'],
  ['"a,b"', { delimiter: ';' }, 'a,b'],
  ['"a;b"', { delimiter: ';' }, '"a;b"'],
  ['"a\\tb"', { delimiter: '\t' }, '"a\tb"'],
  ['"a|b"', { delimiter: '|' }, '"a|b"'],
  ['[3, 7]', { delimiter: ';' }, '[3, 7]'],
  ['{"model": "res.partner", "id": 3}', { delimiter: ';' }, 'res.partner,3'],
])('%s is printed with %j as %s', async (value, change, cell) => {
  const form = { ...USUAL_FORM, ...change };
  const bytes = Buffer.from(`{"id": 1, "a": ${value}}`);
  const record = { kind: 'object', start: 0, end: bytes.length } as const;
  const row = `1${form.delimiter}${cell}\r\n`;
  expect(printRow(bytes, record, ['id', 'a'], form)).toBe(row);
  const pieces = await Array.fromAsync(printLongRow(bytes, record, ['id', 'a'], form));
  expect(Buffer.concat(pieces).toString()).toBe(row);
  expect(printHeader(['id', 'a'], form)).toBe(`id${form.delimiter}a\r\n`);
});

test('members in another order, and members that are missing', () => {
  expect(print('{"b": 2, "id": 1, "a": 3}', ['a', 'b', 'c'])).toBe('1,3,2,');
});

test('no text can begin a formula, end its cell, or start another row', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }), (texts) => {
      const names = texts.map((_, index) => `f${index}`);
      const members = texts.map((text, index) => `"f${index}": ${JSON.stringify(text)}`);
      const cells = parseRow(print(`{"id": 1, ${members.join(', ')}}`, names));
      expect(cells).toHaveLength(texts.length + 1);
      for (const [index, text] of texts.entries()) {
        const cell = cells[index + 1]!;
        expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        expect([text, `'${text}`]).toContain(cell);
      }
    }),
  );
});

test('a long record has the same cells, printed in pieces', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 });
  // Some texts are longer than one part, and are divided at any place.
  const value = fc.record({ text, isLong: fc.boolean(), kind: fc.constantFrom('text', 'list', 'object') });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (values) => {
      const names = values.map((_, index) => `f${index}`);
      const members = values.map(({ text, isLong, kind }, index) => {
        const long = isLong ? text.repeat(Math.ceil(150_000 / text.length)) : text;
        const given = { text: long, list: [long, 1], object: { x: long, y: 1, z: 2 } }[kind];
        return `"f${index}": ${JSON.stringify(given)}`;
      });
      const bytes = Buffer.from(`{"id": 1, ${members.join(', ')}}`);
      const record = { kind: 'object', start: 0, end: bytes.length } as const;
      const pieces = await Array.fromAsync(printLongRow(bytes, record, listColumns(names)));
      const row = Buffer.concat(pieces).toString();
      expect(row.endsWith('\r\n')).toBe(true);
      expect(parseRow(row.slice(0, -2))).toEqual(
        parseRow(printRow(bytes, record, listColumns(names)).slice(0, -2)),
      );
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(400_000);
    }),
    { numRuns: countCases(30) },
  );
});

/** Parses a row by the rules of RFC 4180. */
function parseRow(row: string): string[] {
  const cells = row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]*))(?=,|$)/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}
