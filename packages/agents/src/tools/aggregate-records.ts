/** `aggregate_records`: computes sums, averages and counts by group. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { NAMED_COUNT } from '@erp-proxy/odoo';
import type { PrintTime } from '@erp-proxy/odoo/times';
import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRows } from '../as-rows.ts';
import type { Fields } from '../fields.ts';
import type { Session } from '../session.ts';
import { DATA_NOTE, showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
import { readDomain } from './domain-times.ts';
import { listFieldsOf } from './search-records.ts';

const LIMIT = 30;
const LIMIT_MAX = 200;

interface Grouping {
  domain: readonly unknown[];
  groupBy: readonly string[];
  measures: readonly string[];
  order: string | undefined;
  limit: number;
  offset: number;
}

export const aggregateRecords = defineTool({
  name: 'aggregate_records',
  title: 'Sum and group records',
  description:
    'Sums, averages or counts records by group, in one call, whatever their number. E.g. sales of May by salesperson: model sale.order, domain [["state","=","sale"],["date_order",">=","2026-05-01"],["date_order","<","2026-06-01"]], group_by ["user_id"], measures ["amount_total:sum"]. Each group has its `count`.',
  input: z.strictObject({
    model: given.model,
    group_by: z
      .array(z.string())
      .max(4)
      .optional()
      .describe(
        'Fields of the model itself; dates with day, week, month, quarter or year: "date_order:month". The answer has `from` and `to` of each, for a domain. Left out: one total.',
      ),
    measures: z
      .array(z.string())
      .max(10)
      .optional()
      .describe(
        'Stored numeric fields with sum, avg, min or max, dates with min or max: "amount_total:sum". Left out: only counts.',
      ),
    domain: given.sameDomain,
    order: z
      .string()
      .max(500)
      .optional()
      .describe('By a group, a measure or the count: "amount_total:sum desc", "count desc".'),
    min_count: z
      .int()
      .positive()
      .optional()
      .describe('Leaves out groups of fewer records. Then the largest groups come first.'),
    limit: given.limit(LIMIT, LIMIT_MAX),
    offset: given.offset,
    lang: given.lang,
    instance: given.instance,
    instances: given.instances,
  }),
  output: z.object({
    groups: z.array(given.record),
    next: given.next,
    time_zone: given.timeZone,
    note: given.note,
  }),
  example: '{"model": "sale.order", "group_by": ["user_id"], "measures": ["amount_total:sum"]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) =>
    ['read_group', 'formatted_read_group'].some((method) => mayCallAnywhere(policy, method)),
  async run(args, session) {
    const {
      model,
      group_by = [],
      measures = [],
      domain = [],
      limit = LIMIT,
      offset = 0,
      min_count = 0,
    } = args;
    // Models send an empty text instead of leaving `order` out.
    const order = args.order?.trim() || undefined;
    const target = await session.pickInstance(args.instance);
    await session.checkFields(target, model, [...listFieldsOf(domain), ...group_by, ...measures]);
    const { where, zone } = await readDomain(session, target, model, domain);
    const grouping: Grouping = {
      domain: where,
      groupBy: group_by,
      measures: [...new Set(measures.map((measure) => (measure.includes(':') ? measure : `${measure}:sum`)))],
      order: min_count > 0 ? orderBySize(group_by, order) : order,
      limit: limit + 1,
      offset,
    };
    const rows = await readGroups(target, model, grouping, session);
    const isLimited = rows.length > limit || rows.length === session.policyLimit;
    const fields = group_by.length + measures.length > 0 ? await session.fields(target, model) : null;
    const all = rows.map((row) => showGroup(row, grouping, fields));
    // Groups come in descending size, so all groups after a smaller one are smaller, too.
    const large = all.filter(({ count }) => min_count === 0 || Number(count) >= min_count);
    const { records, isCut } = showRecords(large.slice(0, limit), null);
    const printTime = await session.timePrinter(target);
    const isMore = isCut || (isLimited && large.length === all.length);
    const isCutByTime = group_by.some((name) => typeOf(fields, name) === 'datetime');
    return {
      // Prints the times of shown groups only: a hostile server sends many more, and each time takes some µs.
      groups: records.map((group) => printTimes(group, grouping, fields, printTime)),
      ...(isMore ? { next: offset + records.length } : {}),
      ...(isCutByTime ? { time_zone: (await session.userContext(target)).tz ?? 'UTC' } : zone),
      // Not for a count, which the proxy makes. The maximum of a field can be a text.
      ...(group_by.length + measures.length > 0 && records.length > 0 ? { note: DATA_NOTE } : {}),
    };
  },
});

/**
 * Orders groups of equal size by the order of the call, then by their values, so that each group is on exactly one
 * page.
 */
function orderBySize(groupBy: readonly string[], order: string | undefined): string {
  const ordered = listWords(order);
  const others = groupBy.filter((name) => !ordered.includes(name));
  return ['__count desc', ...(order === undefined ? [] : [order]), ...others].join(', ');
}

/** Reads groups of records. `read_group` exists up to version 19, `formatted_read_group` from 19 on. */
async function readGroups(
  instance: InstanceRecord,
  model: string,
  { domain, groupBy, measures, order, limit, offset }: Grouping,
  session: Session,
): Promise<Record<string, unknown>[]> {
  const fieldNames = [...groupBy, ...measures].map(nameField);
  /** True if the name in an order is the count of records, not a field of this name. */
  const isCount = (name: string) => COUNT_NAMES.includes(name) && !fieldNames.includes(name);
  try {
    const names = nameResults(measures, order);
    const aggregates = measures.map((measure) => {
      const [field, operator] = measure.split(':');
      const name = names.get(measure);
      return name === field ? measure : `${name}:${operator}(${field})`;
    });
    // Adds a named count, because `read_group` orders by a count only if the call asks for it by name.
    const count = listWords(order).some(isCount) ? [`${NAMED_COUNT}:count(id)`] : [];
    // Without names of fields, `read_group` would sum all fields, which is slow, and may not be allowed.
    const fields = aggregates.length + count.length > 0 ? [...aggregates, ...count] : ['__count'];
    const findResult = (name: string) => (isCount(name) ? NAMED_COUNT : names.get(name));
    const ordered = order === undefined ? false : nameOrder(order, findResult);
    const params = [domain, fields, groupBy, offset, limit, ordered, false];
    const rows = asRows(await session.call(instance, model, 'read_group', params));
    return rows.map((row) => ({
      ...row,
      ...Object.fromEntries(measures.map((measure) => [measure, row[names.get(measure) as string]])),
    }));
  } catch (error) {
    if (!(error instanceof ToolError) || error.type !== 'method_not_found') throw error;
  }
  const keyword = { domain, groupby: groupBy, aggregates: [...measures, '__count'], offset, limit };
  // `formatted_read_group` orders by the whole name of a measure.
  const findMeasure = (name: string) =>
    isCount(name) ? '__count' : measures.find((measure) => [measure, nameField(measure)].includes(name));
  return asRows(
    await session.call(instance, model, 'formatted_read_group', [], {
      keyword: order === undefined ? keyword : { ...keyword, order: nameOrder(order, findMeasure) },
    }),
  );
}

/** Names of the count in an order: `count` of the tool's answer, and Odoo's `__count`. */
const COUNT_NAMES = ['count', '__count'];

function listWords(order = ''): string[] {
  return order.split(/[\s,]+/);
}

/**
 * `read_group` names a result after its field, and orders by this name. A second result of one field gets a name of its
 * own, so the measure that the order names comes first.
 */
function nameResults(measures: readonly string[], order: string | undefined): Map<string, string> {
  const ordered = listWords(order);
  const isLast = (measure: string) => Number(!ordered.includes(measure));
  const sorted = measures.toSorted((one, other) => isLast(one) - isLast(other));
  const names = new Map<string, string>();
  const fields = new Set<string>();
  for (const measure of sorted) {
    const field = nameField(measure);
    names.set(measure, fields.has(field) ? measure.replace(':', '_') : field);
    fields.add(field);
  }
  return names;
}

function nameField(measure: string): string {
  return measure.split(':', 1)[0] as string;
}

const MEASURE_END = /:(sum|avg|min|max|count|count_distinct)$/;

/**
 * The order with the names that Odoo has for measures. `find` is called with the name as given, then with its field.
 */
function nameOrder(order: string, find: (name: string) => string | undefined): string {
  const terms = order.split(',').map((part) => {
    const [name = '', ...rest] = part.trim().split(' ');
    const field = name.replace(MEASURE_END, '');
    return [find(name) ?? find(field) ?? field, ...rest].join(' ');
  });
  return terms.join(', ');
}

/** Shows the values of the groups, then the measures under their own names. */
function showGroup(
  row: Record<string, unknown>,
  { groupBy, measures }: Grouping,
  fields: Fields | null,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [index, name] of groupBy.entries()) {
    const value = row[name] ?? row[nameField(name)];
    const type = typeOf(fields, name);
    // A key may have no right to ask for types.
    const isDate = type === undefined ? name.includes(':') : type.startsWith('date');
    const span = isDate && value ? findSpan(row, name, countSame(groupBy.slice(0, index), name)) : null;
    const key = showKey(value, type);
    shown[name] = span === null ? key : { name: key, ...span };
  }
  for (const measure of measures) shown[measure] = showMeasure(row[measure], typeOf(fields, measure));
  const count = row['__count'] ?? row[`${groupBy[0]}_count`];
  shown['count'] = Number.isSafeInteger(count) ? count : null;
  return shown;
}

/**
 * Prints bounds and measures that are datetimes. A key that may not ask for types gets them in Odoo's form, in which
 * domains accept them, too.
 */
function printTimes(
  group: Record<string, unknown>,
  { groupBy, measures }: Grouping,
  fields: Fields | null,
  printTime: PrintTime,
): Record<string, unknown> {
  const printed = { ...group };
  const print = (value: unknown) => (typeof value === 'string' ? printTime(toIso(value)) : value);
  const isTime = (name: string) => typeOf(fields, name) === 'datetime';
  for (const name of groupBy.filter(isTime)) {
    const value = group[name];
    if (isObject(value) && 'from' in value)
      printed[name] = { ...value, from: print(value['from']), to: print(value['to']) };
  }
  for (const name of measures.filter(isTime)) printed[name] = print(group[name]);
  return printed;
}

function countSame(names: readonly string[], name: string): number {
  return names.filter((other) => nameField(other) === nameField(name)).length;
}

function typeOf(fields: Fields | null, name: string): string | undefined {
  return fields?.get(nameField(name))?.type;
}

/** The shown value of a group: id and name of a many2one, the label of a date, or the value itself. */
function showKey(value: unknown, type: string | undefined): unknown {
  if (value === undefined || (value === false && type !== 'boolean')) return null;
  if (!Array.isArray(value)) return value;
  const [id, name] = value;
  return typeof id === 'number' ? { id, name } : (name ?? id);
}

function showMeasure(value: unknown, type: string | undefined): unknown {
  if (typeof value === 'number') return Math.round(value * 1e6) / 1e6;
  if (value === false && type !== 'boolean') return null;
  return value ?? null;
}

const ODOO_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Converts a time from Odoo's form to that of normalized values. Other texts stay unchanged. */
function toIso(time: string): string {
  return ODOO_TIME.test(time) ? `${time.replace(' ', 'T')}Z` : time;
}

/**
 * Beginning and end of a date group, in the form that domains have; null for other groups. `earlier`: number of groups
 * of the same field before it.
 */
function findSpan(
  row: Record<string, unknown>,
  name: string,
  earlier: number,
): { from: string; to: string } | null {
  const ranges = row['__range'];
  const range = isObject(ranges) ? ranges[name] : undefined;
  if (isObject(range)) {
    const { from, to } = range;
    return typeof from === 'string' && typeof to === 'string' ? { from, to } : null;
  }
  // Odoo 14 has no `__range`, and Odoo 15 has one for each field. Their domain begins with the conditions of the
  // groups.
  const domain = row['__extra_domain'] ?? row['__domain'];
  const conditions = Array.isArray(domain) ? domain.filter((item) => Array.isArray(item)) : [];
  const isBound = (item: unknown[] | undefined, operator: string) =>
    item?.[0] === nameField(name) && item[1] === operator && typeof item[2] === 'string';
  const starts = conditions.flatMap((item, index) =>
    isBound(item, '>=') && isBound(conditions[index + 1], '<') ? [index] : [],
  );
  const start = starts[earlier];
  if (start === undefined) return null;
  return { from: conditions[start]?.[2], to: conditions[start + 1]?.[2] };
}
