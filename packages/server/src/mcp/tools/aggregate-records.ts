/** `aggregate_records`: sums, averages and counts by group. */
import { z } from 'zod';
import type { InstanceRecord } from '../../instances/instances.ts';
import { mayCallAnywhere } from '../../policy/abilities.ts';
import { isObject } from '../fields.ts';
import type { Session } from '../session.ts';
import { DATA_NOTE, showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
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
    order: z.string().max(500).optional().describe('By a group or a measure: "amount_total desc".'),
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
      measures: measures.map((measure) => (measure.includes(':') ? measure : `${measure}:sum`)),
      // Odoo orders by the name of the field alone.
      order: order?.replace(/:(sum|avg|min|max|count|count_distinct)\b/g, ''),
      limit: limit + 1,
      offset,
    };
    const rows = await readGroups(target, model, grouping, session);
    const groups = rows.slice(0, limit).map((row) => showGroup(row, grouping));
    const { records, isCut } = showRecords(groups, null);
    const isMore = isCut || rows.length > limit;
    return { groups: records, ...(isMore ? { next: offset + records.length } : {}), note: DATA_NOTE };
  },
});

/** `read_group` exists up to version 19, `formatted_read_group` from 19 on. */
async function readGroups(
  instance: InstanceRecord,
  model: string,
  { domain, groupBy, measures, order, limit, offset }: Grouping,
  session: Session,
): Promise<Record<string, unknown>[]> {
  try {
    const params = [domain, measures, groupBy, offset, limit, order ?? false, false];
    return asRows(await session.call(instance, model, 'read_group', params));
  } catch (error) {
    if (!(error instanceof ToolError) || error.type !== 'method_not_found') throw error;
  }
  const orders = order
    ?.split(',')
    .map((part) => part.trim())
    .map((part) => nameMeasure(part, measures))
    .join(', ');
  const keyword = { domain, groupby: groupBy, aggregates: [...measures, '__count'], offset, limit };
  return asRows(
    await session.call(instance, model, 'formatted_read_group', [], {
      keyword: orders === undefined ? keyword : { ...keyword, order: orders },
    }),
  );
}

/** `formatted_read_group` orders by the whole name of a measure. */
function nameMeasure(part: string, measures: readonly string[]): string {
  const [name = '', ...rest] = part.split(' ');
  const measure = measures.find((candidate) => candidate.split(':', 1)[0] === name);
  return [measure ?? name, ...rest].join(' ');
}

/** The values of the groups first, then the measures under their own names. */
function showGroup(row: Record<string, unknown>, { groupBy, measures }: Grouping): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of groupBy) shown[name] = showKey(row[name] ?? row[name.split(':', 1)[0] as string]);
  for (const measure of measures) {
    const value = row[measure] ?? row[measure.split(':', 1)[0] as string];
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

function asRows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
