/** `aggregate_records`: sums, averages and counts by group. */
import { z } from 'zod';
import type { InstanceRecord } from '../../instances/instances.ts';
import { NAMED_COUNT } from '../../odoo/grouping.ts';
import { mayCallAnywhere } from '../../policy/abilities.ts';
import type { Session } from '../session.ts';
import { DATA_NOTE, showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
import { asRows } from './as-rows.ts';
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
        'Fields; dates with day, week, month, quarter or year: "date_order:month". Left out: one total.',
      ),
    measures: z
      .array(z.string())
      .max(10)
      .optional()
      .describe(
        'Stored numeric fields with sum, avg, min or max: "amount_total:sum". Left out: only counts.',
      ),
    domain: given.sameDomain,
    order: z
      .string()
      .max(500)
      .optional()
      .describe('By a group, a measure or the count: "amount_total desc", "count desc".'),
    limit: given.limit(LIMIT, LIMIT_MAX),
    offset: given.offset,
    instance: given.instance,
  }),
  output: z.object({ groups: z.array(given.record), next: given.next, note: given.note }),
  example: '{"model": "sale.order", "group_by": ["user_id"], "measures": ["amount_total:sum"]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) =>
    ['read_group', 'formatted_read_group'].some((method) => mayCallAnywhere(policy, method)),
  async run(args, session) {
    const { model, group_by = [], measures = [], domain = [], order, limit = LIMIT, offset = 0 } = args;
    const target = await session.pickInstance(args.instance);
    await session.checkFields(target, model, [...listFieldsOf(domain), ...group_by, ...measures]);
    const grouping: Grouping = {
      domain,
      groupBy: group_by,
      measures: [...new Set(measures.map((measure) => (measure.includes(':') ? measure : `${measure}:sum`)))],
      order,
      limit: limit + 1,
      offset,
    };
    const rows = await readGroups(target, model, grouping, session);
    const groups = rows.slice(0, limit).map((row) => showGroup(row, grouping));
    const { records, isCut } = showRecords(groups, null);
    const isMore = isCut || rows.length > limit;
    return {
      groups: records,
      ...(isMore ? { next: offset + records.length } : {}),
      // Without groups there are numbers only.
      ...(group_by.length > 0 && records.length > 0 ? { note: DATA_NOTE } : {}),
    };
  },
});

/** `read_group` exists up to version 19, `formatted_read_group` from 19 on. */
async function readGroups(
  instance: InstanceRecord,
  model: string,
  { domain, groupBy, measures, order, limit, offset }: Grouping,
  session: Session,
): Promise<Record<string, unknown>[]> {
  const fieldNames = [...groupBy, ...measures].map(nameField);
  /** Whether the name in an order is the count of records, and not a field of this name. */
  const isCount = (name: string) => COUNT_NAMES.includes(name) && !fieldNames.includes(name);
  try {
    const names = nameResults(measures, order);
    const aggregates = measures.map((measure) => {
      const [field, operator] = measure.split(':');
      const name = names.get(measure);
      return name === field ? measure : `${name}:${operator}(${field})`;
    });
    // `read_group` orders by a count only if the call asks for one by name.
    const count = listWords(order).some(isCount) ? [`${NAMED_COUNT}:count(id)`] : [];
    // A call that names no field stands for all of them, which are slow to sum, and may not all be allowed.
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
  // It orders by the whole name of a measure.
  const findMeasure = (name: string) =>
    isCount(name) ? '__count' : measures.find((measure) => [measure, nameField(measure)].includes(name));
  return asRows(
    await session.call(instance, model, 'formatted_read_group', [], {
      keyword: order === undefined ? keyword : { ...keyword, order: nameOrder(order, findMeasure) },
    }),
  );
}

/** Names of the count in an order: that of the tool's answer, and Odoo's. */
const COUNT_NAMES = ['count', '__count'];

function listWords(order = ''): string[] {
  return order.split(/[\s,]+/);
}

/**
 * `read_group` gives a result the name of its field, by which it orders. A second result of one field gets a name of
 * its own, so that the order has the first choice.
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

/** The order with the names that Odoo has for measures. `find` is asked for the name as given, then for its field. */
function nameOrder(order: string, find: (name: string) => string | undefined): string {
  const terms = order.split(',').map((part) => {
    const [name = '', ...rest] = part.trim().split(' ');
    const field = name.replace(MEASURE_END, '');
    return [find(name) ?? find(field) ?? field, ...rest].join(' ');
  });
  return terms.join(', ');
}

/** The values of the groups first, then the measures under their own names. */
function showGroup(row: Record<string, unknown>, { groupBy, measures }: Grouping): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of groupBy) shown[name] = showKey(row[name] ?? row[name.split(':', 1)[0] as string]);
  for (const measure of measures) {
    const value = row[measure];
    shown[measure] = typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : (value ?? null);
  }
  shown['count'] = row['__count'] ?? row[`${groupBy[0]}_count`] ?? null;
  return shown;
}

function showKey(value: unknown): unknown {
  if (value === false || value === undefined) return null;
  if (!Array.isArray(value)) return value;
  const [id, name] = value;
  // A many2one, or a date with its label.
  return typeof id === 'number' ? { id, name } : (name ?? id);
}
