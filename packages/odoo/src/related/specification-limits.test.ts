import { describe, expect, test } from 'vitest';
import { countReads } from '../../../json/test/counted-bytes.ts';
import { readArguments } from '../../test/read-arguments.ts';
import { hasUnboundedField } from './specification-limits.ts';

describe('a specification bounds the related records', () => {
  const lines = (more: string) => `{"name": {}, "line_ids": {"fields": {"name": {}}${more}}}`;
  const nested = `{"line_ids": {"fields": {"tax_ids": {"fields": {"name": {}}}}, "limit": 5}}`;

  test.each([
    [lines('')],
    [lines(', "limit": null')],
    [lines(', "limit": 1001')],
    [lines(', "limit": -1')],
    [lines(', "limit": "5"')],
    [lines(', "limit": 5, "limit": 2000')],
    [lines(', "order": "id", "context": {}')],
    [nested],
    // Limits of fields within each other are multiplied.
    ['{"line_ids": {"fields": {"tax_ids": {"fields": {"name": {}}, "limit": 40}}, "limit": 40}}'],
    [`{"line_ids": {"fields": {"${'x'.repeat(140_000)}": {}}, "limit": 5}}`],
    [`${'{"a": {"limit": 5, "fields": '.repeat(20)}{}${'}}'.repeat(20)}`],
    [`{"a": {"limit": 1e999, "fields": {}}}`],
  ])('not: %.80s', (specification) => {
    for (const call of [
      readArguments(`[[1], ${specification}]`),
      readArguments('[[1]]', `{"specification": ${specification}}`),
    ])
      expect(hasUnboundedField('web_read', call, 1000)).toBe(true);
    expect(hasUnboundedField('web_search_read', readArguments(`[[], ${specification}]`), 1000)).toBe(true);
  });

  test.each([
    ['{}'],
    ['{"name": {}, "line_ids": {}}'],
    [lines(', "limit": 1000')],
    [lines(', "limit": 0')],
    ['{"line_ids": {"fields": {"tax_ids": {"fields": {"name": {}}, "limit": 2}}, "limit": 5}}'],
    ['{"line_ids": {"fields": {"tax_ids": {"fields": {"name": {}}, "limit": 10}}, "limit": 100}}'],
    ['{"line_ids": {"fields": {}, "limit": 600}, "tax_ids": {"fields": {}, "limit": 500}}'],
    [`${'{"a": {"limit": 1, "fields": '.repeat(20)}{}${'}}'.repeat(20)}`],
    ['["name", "line_ids"]'],
  ])('as it does: %s', (specification) => {
    expect(hasUnboundedField('web_read', readArguments(`[[1, 2], ${specification}]`), 1000)).toBe(false);
  });

  test('also those of groups (19)', () => {
    const find = (specification: string) =>
      hasUnboundedField(
        'web_read_group',
        readArguments('[[]]', `{"groupby_read_specification": {"stage_id": ${specification}}}`),
        1000,
      );
    expect([find(lines('')), find(lines(', "limit": 5')), find('{"name": {}}')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  const inLines = '{"line_ids": {"fields": {"name": {}}}}';
  const limited = '{"line_ids": {"fields": {"name": {}}, "limit": 5}}';
  test.each([
    ['web_save', `[[1], {}, ${inLines}]`, `[[1], {}, ${limited}]`],
    ['web_save_multi', `[[1], [{}], ${inLines}]`, `[[1], [{}], ${limited}]`],
    ['web_resequence', `[[1], ${inLines}]`, `[[1], ${limited}]`],
    ['web_name_search', `["a", ${inLines}]`, `["a", ${limited}]`],
    ['onchange', `[[1], {}, [], ${inLines}]`, `[[1], {}, [], ${limited}]`],
    ['onchange', '[[1], {}, "a", {"line_ids.name": ""}]', '[[1], {}, "a", {"name": "1", "line_ids": ""}]'],
    ['export_data', '[[1], ["line_ids/name"]]', '[[1], ["name", "line_ids", "user_id/id"]]'],
  ])('of %s %s', (method, unbounded, bounded) => {
    expect(hasUnboundedField(method, readArguments(unbounded), 5)).toBe(true);
    expect(hasUnboundedField(method, readArguments(bounded), 5)).toBe(false);
  });

  test('a property has one definition', () => {
    expect(hasUnboundedField('get_property_definition', readArguments('["properties.abc"]'), 5)).toBe(false);
  });

  test('a deep one is read in bounded time', () => {
    const inner = Array.from({ length: 2500 }, (_, index) => `"field_${index}": {}`).join();
    const specification = `${'{"a": {"limit": 1, "fields": '.repeat(15)}{${inner}}${'}}'.repeat(15)}`;
    const params = `[[1],${specification}]`;
    const { reads, bytes } = countReads(`${params}{}`);
    expect(hasUnboundedField('web_read', { ...readArguments(params), bytes }, 1000)).toBe(true);
    // Each of the 128 KiB is read a few times, to find the members of an object and of the objects in it.
    expect(reads()).toBeLessThan(10 * 128 * 1024);
  });
});
