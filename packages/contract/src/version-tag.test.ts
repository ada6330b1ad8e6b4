import { expect, test } from 'vitest';
import { printVersionTag, readVersionTag, tagVersion } from './version-tag.ts';

test('a tag that was printed is read as the same version', () => {
  const tag = tagVersion({ version: 3, created_at: '2026-11-27T09:41:55.778Z' });
  expect(printVersionTag(tag)).toBe('"3-mwysl96q"');
  expect(readVersionTag(printVersionTag(tag))).toEqual(tag);
});

test('a tag without the time of creation is of any object', () => {
  expect(readVersionTag('"12"')).toEqual({ version: 12, createdAt: null });
  expect(printVersionTag({ version: 12, createdAt: null })).toBe('"12"');
});

test.each([
  '3',
  '"0"',
  '"03"',
  '"3-"',
  '"3-A"',
  '"3-mihdjhc2',
  '"-a"',
  'W/"3"',
  '"3", "4"',
  '"3-mihdjhc2mihdjhc2"',
])('%s is no tag', (text) => expect(readVersionTag(text)).toBeNull());
