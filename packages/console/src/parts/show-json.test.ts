import { expect, test } from 'vitest';
import { revealInvisible, showJson } from './show-json.ts';

test('the value and its digits stay', () => {
  const texts = [
    '[]',
    '{}',
    '[[7,8],{}]',
    '{"a":{"b":[1,2.50,-3e+10]},"c":"x\\"y\\\\","d":null}',
    '[12345678901234567890, "a, b: [c]"]',
  ];
  for (const text of texts) {
    const shown = showJson(text);
    expect(JSON.parse(shown)).toEqual(JSON.parse(text));
    expect(shown.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
  }
  expect(showJson('[[7,8],{"a":1}]')).toBe('[\n  [7, 8],\n  {"a": 1}\n]');
});

test('characters that hide or turn text are shown, and stand for the same value', () => {
  const text = JSON.stringify(['a\u202eb\u200b\u2028', '\u{e0041}']);
  const shown = showJson(text);
  expect(shown).toContain('a\\u202eb\\u200b\\u2028');
  expect(JSON.parse(shown)).toEqual(JSON.parse(text));
  expect(revealInvisible('res.partner')).toBe('res.partner');
});

test('a text that is not JSON, and a long one, end', () => {
  expect(showJson('}}}{"a')).toContain('"a');
  const long = `[${Array(50_000).fill('"abc"').join(',')}]`;
  expect(JSON.parse(showJson(long))).toHaveLength(50_000);
  expect(showJson('['.repeat(20_000)).length).toBeLessThan(2_000_000);
});
