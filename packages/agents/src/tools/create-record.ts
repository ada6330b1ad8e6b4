/** `create_record`: creates records of a model. */

import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { readNewIds } from '../as-rows.ts';
import { describeRecords } from '../describe-records.ts';
import { linkIds } from '../links.ts';
import { printWith } from '../print-arguments.ts';
import { showWritten } from '../show-written.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const RECORDS_MAX = 100;

export const createRecord = defineTool({
  name: 'create_record',
  title: 'Create a record',
  description:
    'Creates one record, or one for each object of a list, and returns them. Lines belong into the same call: {"partner_id": 10, "order_line": {"create": [{"product_id": 5, "product_uom_qty": 2}]}}.',
  input: z.strictObject({
    model: given.model,
    values: given.oneOrMore(given.values, RECORDS_MAX),
    context: given.context,
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({
    id: z.int().optional(),
    ids: z.array(z.int()).optional(),
    records: z.array(given.record).optional(),
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "res.partner", "values": {"name": "Deco Addict", "phone": "+32 2 290 34 90"}}',
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  isOffered: (policy) => mayCallAnywhere(policy, 'create'),
  final: {
    find: ({ model }) => ({ model, method: 'create', of: 'removals' }),
    async ask({ model, instance, values, context }, session) {
      const keyword = context === undefined ? {} : { context };
      const call = { model, instance, method: 'create', positional: [values], keyword };
      const { target, others } = await describeRecords(call, session);
      return `Create ${count(values)}, and remove others for good: ${target}${others}${printWith(values, context)}?`;
    },
  },
  async run({ model, values, context, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    const rows = Array.isArray(values) ? values : [values];
    const set = [...new Set(rows.flatMap(Object.keys))];
    await session.checkFields(target, model, set);
    const made = await session.call(target, model, 'create', [values], {
      names: ['values'],
      change: { approval },
      ...(context === undefined ? {} : { context }),
    });
    const ids = readNewIds(made);
    const [id] = ids;
    return {
      ...(Array.isArray(values) ? { ids } : id === undefined ? {} : { id }),
      link: linkIds(target.url, model, ids),
      ...(await showWritten({ instance: target, model, ids, set }, session)),
    };
  },
});

function count(values: unknown): string {
  return Array.isArray(values) && values.length > 1 ? `${values.length} records` : 'a record';
}
