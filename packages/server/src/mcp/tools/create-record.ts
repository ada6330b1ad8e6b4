/** `create_record`: one new record. */
import { z } from 'zod';
import { mayCallAnywhere } from '../../policy/abilities.ts';
import { describeTarget } from '../describe-target.ts';
import { linkRecord } from '../links.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';
import { hasDeletion } from './deletion.ts';

export const createRecord = defineTool({
  name: 'create_record',
  title: 'Create a record',
  description:
    'Creates one record and returns its id. Lines belong into the same call: {"partner_id": 10, "order_line": {"create": [{"product_id": 5, "product_uom_qty": 2}]}}.',
  input: z.strictObject({
    model: given.model,
    values: given.values,
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({ id: z.int(), link: z.string() }),
  example: '{"model": "res.partner", "values": {"name": "Deco Addict", "phone": "+32 2 290 34 90"}}',
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  isOffered: (policy) => mayCallAnywhere(policy, 'create'),
  final: {
    find: ({ model, values }) => (hasDeletion(values) ? { model, method: 'create' } : null),
    ask: async (args, session) =>
      `Create a record, and delete others for good: ${await describeTarget({ ...args, ids: [] }, session)}?`,
  },
  async run({ model, values, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    await session.checkFields(target, model, Object.keys(values));
    const made = await session.call(target, model, 'create', [values], { change: { approval } });
    const id = Number(Array.isArray(made) ? made[0] : made);
    return { id, link: linkRecord(target.url, model, id) };
  },
});
