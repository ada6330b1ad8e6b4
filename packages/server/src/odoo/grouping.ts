/**
 * The texts by which a grouping read says what to group by and what to make of each group: `date:month`, `amount:sum`,
 * `partner_id.country_id`. Knows not what they mean.
 */
import { someString } from '../json/strings.ts';
import type { Arguments } from './arguments.ts';

/** Each takes its domain first (docs/odoo-facts.md#parameters). */
const METHODS = new Set([
  'read_group',
  'web_read_group',
  'formatted_read_group',
  'formatted_read_grouping_sets',
  'read_progress_bar',
  'get_gantt_data',
]);
/** These choose records, and what is named there is not given. */
const CHOOSING = new Set(['domain', 'having', 'context', 'opening_info']);

/** Far more than anybody groups by; a body can hold millions. */
const TEXTS_MAX = 1000;

export function isGrouping(method: string): boolean {
  return METHODS.has(method);
}

/**
 * Whether any text passes, at whatever place (Python takes the keys of an object for a list), or they are too many to look at.
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
