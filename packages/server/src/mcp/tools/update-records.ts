/** `update_records`: new values for some fields of records. */
import { z } from 'zod';
import { mayCallAnywhere } from '../../policy/abilities.ts';
import { describeTarget } from '../describe-target.ts';
import { linkRecords } from '../links.ts';
import { printWith } from '../print-arguments.ts';
import { showWritten } from '../show-written.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';
import { hasDeletion } from './deletion.ts';

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
    find: ({ model, values }) => (hasDeletion(values) ? { model, method: 'write' } : null),
    ask: async (args, session) =>
      `Delete lines for good, of ${await describeTarget(args, session)}${printWith(args.values)}?`,
  },
  async run({ model, ids, values, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    const set = Object.keys(values);
    await session.checkFields(target, model, set);
    await session.call(target, model, 'write', [ids, values], { change: { approval } });
    return {
      updated: ids,
      link: linkRecords(target.url, model),
      ...(await showWritten({ instance: target, model, ids, set, isUpdate: true }, session)),
    };
  },
});
