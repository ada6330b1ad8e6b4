import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKey, parseKey, readKeyId, TOKEN_PREFIX } from './format.ts';

test('parses a generated key into its parts', () => {
  const { id, secret, text } = generateKey();
  expect(text).toMatch(/^ep_[0-9A-Za-z]{12}_[0-9A-Za-z]{39}$/);
  expect(parseKey(text)).toEqual({ id, secret });
  expect(readKeyId(text)).toBe(id);
  expect(readKeyId(`${text}0`)).toBeNull();
});

test('secrets have at least 192 bits', () => {
  expect(generateKey().secret.length * Math.log2(62)).toBeGreaterThanOrEqual(192);
});

test('ids and secrets are unique', () => {
  const keys = Array.from({ length: 2000 }, () => generateKey());
  expect(new Set(keys.map((key) => key.id)).size).toBe(2000);
  expect(new Set(keys.map((key) => key.secret)).size).toBe(2000);
});

test('uses each of the 62 characters equally often', () => {
  const counts = new Map<string, number>();
  let total = 0;
  for (let round = 0; round < 4000; round++) {
    const { id, secret } = generateKey();
    for (const character of id + secret) counts.set(character, (counts.get(character) ?? 0) + 1);
    total += id.length + secret.length;
  }
  expect(counts.size).toBe(62);
  // Chi-square with 61 degrees of freedom exceeds 140 once in ten million runs. If no bytes were discarded, it would
  // exceed 1000.
  const expected = total / 62;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(chiSquare).toBeLessThan(140);
});

test('rejects every key that differs in one character', () => {
  const { text } = generateKey();
  for (let index = 0; index < text.length; index++) {
    for (const other of ['0', 'z', '_', ' ', '\0', 'é']) {
      if (text[index] === other) continue;
      expect(parseKey(text.slice(0, index) + other + text.slice(index + 1))).toBeNull();
    }
  }
});

test('rejects a key with two neighbouring characters swapped', () => {
  const { text } = generateKey();
  for (let index = 0; index + 1 < text.length; index++) {
    const [left, right] = [text[index], text[index + 1]];
    if (left === right) continue;
    expect(parseKey(text.slice(0, index) + right + left + text.slice(index + 2))).toBeNull();
  }
});

test('rejects a key that is cut, extended or surrounded', () => {
  const { text } = generateKey();
  for (let length = 0; length < text.length; length++) expect(parseKey(text.slice(0, length))).toBeNull();
  for (const wrong of [
    `${text}\n`,
    ` ${text}`,
    `${text}0`,
    `Bearer ${text}`,
    `"${text}"`,
    `${text}, ${text}`,
  ]) {
    expect(parseKey(wrong)).toBeNull();
  }
});

test('returns null for any other text, and does not throw', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'binary', minLength: 55, maxLength: 55 }),
    fc.string({ unit: fc.constantFrom('e', 'p', '_', '0', '\ud800'), minLength: 55, maxLength: 55 }),
    fc.stringMatching(/^ep_[0-9A-Za-z]{12}_[0-9A-Za-z]{39}$/),
  );
  fc.assert(fc.property(hostile, (text) => parseKey(text) === null));
});

test('a personal token is no key, and a key no token', () => {
  const token = generateKey(TOKEN_PREFIX);
  expect(token.text).toMatch(/^ept_[0-9A-Za-z]{12}_[0-9A-Za-z]{39}$/);
  expect(parseKey(token.text, TOKEN_PREFIX)).toEqual({ id: token.id, secret: token.secret });
  expect(parseKey(token.text)).toBeNull();
  expect(parseKey(generateKey().text, TOKEN_PREFIX)).toBeNull();
  // The prefix is part of what the checksum covers.
  expect(parseKey(token.text.replace('ept_', 'ep_'))).toBeNull();
});
