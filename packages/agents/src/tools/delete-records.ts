/** `delete_records`: deletes records for good. */

import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { describeRecords } from '../describe-records.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const IDS_MAX = 200;

export const deleteRecords = defineTool({
  name: 'delete_records',
  title: 'Delete records',
  description:
    'Deletes records for good. To hide a record instead, set its field `active` to false by update_records. A person may be asked first.',
  input: z.strictObject({
    model: given.model,
    ids: given.ids(IDS_MAX),
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({ deleted: z.array(z.int()) }),
  example: '{"model": "res.partner", "ids": [42]}',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'unlink'),
  final: {
    find: ({ model }) => ({ model, method: 'unlink', of: 'all' }),
    async ask(args, session) {
      const { target } = await describeRecords({ ...args, method: 'unlink' }, session);
      return `Delete for good: ${target}?`;
    },
  },
  async run({ model, ids, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    await session.call(target, model, 'unlink', [ids], { change: { approval } });
    return { deleted: ids };
  },
});
