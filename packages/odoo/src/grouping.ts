/**
 * Visits the strings with which a grouping read names its groups and aggregates: `date:month`, `amount:sum`,
 * `partner_id.country_id`. Does not interpret them.
 */
import { someString } from '@erp-proxy/json';
import type { Arguments } from './arguments.ts';

/** All these methods take the domain as their first argument (docs/odoo-facts.md#parameters). */
const METHODS = new Set([
  'read_group',
  'web_read_group',
  'formatted_read_group',
  'formatted_read_grouping_sets',
  'read_progress_bar',
  'get_gantt_data',
]);
/** These arguments select records. Fields that they name are not returned. */
const CHOOSING = new Set(['domain', 'having', 'context', 'opening_info']);

/**
 * Name of a result of `read_group` that is the number of records, so that the groups can be ordered by it. No field has
 * this name.
 */
export const NAMED_COUNT = 'group__count';

/** Maximum number of strings that are visited. Normal calls have few; a body can hold millions. */
const TEXTS_MAX = 1000;

export function isGrouping(method: string): boolean {
  return METHODS.has(method);
}

/**
 * Whether `test` returns true for any string, at any depth (Python treats the keys of an object as a list), or there
 * are too many strings to visit.
 */
export function someGroupingText(
  { bytes, positional, named }: Arguments,
  test: (start: number, end: number) => boolean,
): boolean {
  const others = named.filter(({ name }) => !CHOOSING.has(name) && !name.endsWith('specification'));
  const values = [...positional.slice(1), ...others.map(({ value }) => value)];
  let count = 0;
  return values.some((value) =>
    someString(bytes, value, (start, end) => ++count > TEXTS_MAX || test(start, end)),
  );
}
