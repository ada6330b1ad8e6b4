import { expect, test } from 'vitest';
import { cleanName } from './record.ts';

test.each([
  ['res.partner', 'res.partner'],
  ['Zoë 🛒', 'Zoë 🛒'],
  ['a\u001b[2Jb', 'a\ufffd[2Jb'],
  ['a\r\n\tb', 'a\ufffd\ufffd\ufffdb'],
  ['a\u009bb\u007f', 'a\ufffdb\ufffd'],
  ['\u202egnp', '\ufffdgnp'],
  ['\u2066a\u2069', '\ufffda\ufffd'],
  ['a\u061cb\u00adc\u180e', 'a\ufffdb\ufffdc\ufffd'],
  ['tag \u{e0041}', 'tag \ufffd'],
  ['half \ud83d', 'half \ufffd'],
  ['', ''],
])('%j stands as %j', (name, clean) => {
  expect(cleanName(name)).toBe(clean);
});

test('a name is cut at 256 UTF-16 units, or before a character that does not fit', () => {
  expect(cleanName('x'.repeat(256))).toHaveLength(256);
  expect(cleanName('x'.repeat(1e6))).toBe(`${'x'.repeat(255)}…`);
  expect(cleanName(`${'x'.repeat(254)}🛒more`)).toBe(`${'x'.repeat(254)}…`);
});

test('null stays null', () => {
  expect(cleanName(null)).toBeNull();
});
