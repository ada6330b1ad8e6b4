/** `update_records`: changes some fields of records. */

import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { describeRecords } from '../describe-records.ts';
import { linkRecords } from '../links.ts';
import { printWith } from '../print-arguments.ts';
import { showWritten } from '../show-written.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const IDS_MAX = 200;

export const updateRecords = defineTool({
  name: 'update_records',
  title: 'Update records',
  description: 'Sets the same values in one or several records. Fields that are not named stay.',
  input: z.strictObject({
    model: given.model,
    ids: given.ids(IDS_MAX),
    values: given.values.describe('As in create_record.'),
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({
    updated: z.array(z.int()),
    records: z.array(given.record).optional(),
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "res.partner", "ids": [42], "values": {"phone": "+32 2 290 34 90"}}',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'write'),
  final: {
    find: ({ model }) => ({ model, method: 'write', of: 'removals' }),
    async ask({ model, ids, values, instance }, session) {
      const call = { model, ids, instance, method: 'write', positional: [values] };
      const { target, others } = await describeRecords(call, session);
      return `Remove records of lists for good, of ${target}${others}${printWith(values)}?`;
    },
  },
  async run({ model, ids, values, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    const set = Object.keys(values);
    await session.checkFields(target, model, set);
    await session.call(target, model, 'write', [ids, values], {
      names: ['ids', 'values'],
      change: { approval },
    });
    return {
      updated: ids,
      link: linkRecords(target.url, model),
      ...(await showWritten({ instance: target, model, ids, set, isUpdate: true }, session)),
    };
  },
});
