import { expect, test } from 'vitest';
import { expectCpuBelow } from '../../server/test/time.ts';
import { readFields } from './fields.ts';
import { showRecords } from './show.ts';

const FIELDS = readFields({ note: { type: 'html', string: 'Note' } }, null);

const show = (note: string) => showRecords([{ note }], FIELDS, { textMax: 100 }).records[0]?.['note'];

test('HTML is shown as text, with a line for each paragraph', () => {
  expect(
    show(
      '<p>Call <b>first</b>&nbsp;thing</p>\n  <div class="a">Then&lt;br&gt;</div><script>alert(1)</script>',
    ),
  ).toBe('Call first thing\nThen<br>');
});

test.each([
  ['variation selectors', String.fromCodePoint(0xe0141, 0xe0152, 0xfe00, 0xfe0f)],
  ['letters without width', '\u034f\u115f\u1160\u17b4\u180b\u3164\uffa0'],
  ['tags', String.fromCodePoint(0xe0041, 0xe0042)],
  ['marks of direction', '\u200b\u202e\u2066\ufeff'],
])('what a person cannot see is removed: %s', (_, hidden) => {
  expect(show(`Pay${hidden} now`)).toBe('Pay now');
  expect(showRecords([{ note: { [`a${hidden}`]: hidden } }], null).records).toEqual([{ note: { a: '' } }]);
});

test('emojis keep their joiner', () => {
  expect(show('👩\u200d🔧')).toBe('👩\u200d🔧');
});

test('long text is cut, and its length is given', () => {
  expect(show('x'.repeat(300))).toBe(`${'x'.repeat(100)}… (300 characters)`);
  expect(show(`${'<br>'.repeat(100_000)}end`)).toBe('… (400003 characters)');
});

test.each(['<', '<br', '<script', '</p', ' ', '\n', ' \n', '&', '\u200b'])(
  'takes time in proportion to the length of a hostile text: %j',
  async (piece) => {
    const [short, long] = [4000, 64_000].map((length) => piece.repeat(length / piece.length)) as [
      string,
      string,
    ];
    const showShort = () => {
      for (let time = 0; time < 16; time++) show(short);
    };
    // Work of quadratic time would take 16 times as long.
    await expectCpuBelow(5, () => show(long), showShort);
  },
);

test.each([
  ['plain texts', () => 'x'.repeat(150)],
  ['texts of other scripts', () => '漢'.repeat(50)],
  ['names of other scripts', () => ({ ['漢'.repeat(50)]: 1 })],
])('a page is cut by the bytes of its JSON, with %s', (_what, make) => {
  const rows = Array.from({ length: 100 }, (_, id) => ({ id, value: make() }));
  const { records, isCut } = showRecords(rows, null);
  const bytes = Buffer.byteLength(JSON.stringify(records));
  expect(isCut).toBe(true);
  expect(bytes).toBeGreaterThan(5000);
  expect(bytes).toBeLessThan(6500);
});

test('a single record with many long texts fits into a page', () => {
  const names = Array.from({ length: 60 }, (_, index) => `text${index}`);
  const row = Object.fromEntries(names.map((name) => [name, name.repeat(1000)]));
  const { records, clipped, isCut } = showRecords([row], null, { textMax: 2000 });
  expect(Object.keys(records[0] ?? {})).toEqual(names);
  expect(records[0]?.['text0']).toMatch(/^(text0)+… \(5000 characters\)$/);
  expect(JSON.stringify(records).length).toBeLessThan(14_000);
  expect([clipped, isCut]).toEqual([names, false]);
});

test('names no field as cut whose value is cut in a record that does not fit', () => {
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, a: 'x'.repeat(100), b: 'y'.repeat(100) }));
  const { records, clipped, isCut } = showRecords(rows, null);
  expect([clipped, isCut]).toEqual([[], true]);
  expect(records.at(-1)).toMatchObject({ a: 'x'.repeat(100), b: 'y'.repeat(100) });
});

test('a related record is shown alike in each of its places, and is not changed', () => {
  const partner = {
    id: 5,
    comment: `<p>${'x'.repeat(300)}</p>`,
    user_ids: Array.from({ length: 50 }, (_, index) => index),
    owner: { id: 7, name: '\u200bAnn' },
  };
  const before = structuredClone(partner);
  const fields = readFields({ comment: { type: 'html', string: 'Comment' } }, null);
  const rows = [{ partner_id: partner }, { partner_id: partner, child_ids: [partner, { id: 6 }] }];
  const related = new Map([
    ['partner_id', fields],
    ['child_ids', fields],
  ]);
  const { records, clipped } = showRecords(rows, null, { related });
  const shown = {
    id: 5,
    comment: `${'x'.repeat(200)}… (307 characters)`,
    user_ids: [...partner.user_ids.slice(0, 20), '… (50 in all)'],
    owner: { id: 7, name: 'Ann' },
  };
  expect(records).toEqual([{ partner_id: shown }, { partner_id: shown, child_ids: [shown, { id: 6 }] }]);
  expect(clipped).toEqual(['partner_id', 'child_ids']);
  expect(partner).toEqual(before);
});
