/** `call_method`: a method of business logic. */
import { z } from 'zod';
import { isReadOnlyMethod } from '../../odoo/methods.ts';
import { mayCallBusinessMethods } from '../../policy/abilities.ts';
import { describeTarget } from '../describe-target.ts';
import { DATA_NOTE, SINGLE_TEXT_MAX, showValue } from '../show.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const IDS_MAX = 200;

export const callMethod = defineTool({
  name: 'call_method',
  title: 'Call a method',
  description:
    'Calls a method that the other tools do not cover, as the buttons of Odoo do: action_confirm or action_cancel of sale.order, action_post of account.move (Invoicing), message_post (keyword {"body": "…"}). A person may be asked first.',
  input: z.strictObject({
    model: given.model,
    method: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'expected the name of a public method, such as "action_confirm"')
      .max(128),
    ids: given
      .ids(IDS_MAX)
      .optional()
      .describe('Records whose method is called. Left out: a method of the model.'),
    arguments: z.array(z.unknown()).max(20).optional().describe('Positional arguments behind the ids.'),
    keyword: z.record(z.string(), z.unknown()).optional().describe('Named arguments.'),
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({
    result: z.unknown(),
    is_clipped: z.boolean().optional(),
    note: given.note,
  }),
  example: '{"model": "sale.order", "method": "action_confirm", "ids": [7]}',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  isOffered: mayCallBusinessMethods,
  final: {
    find: ({ model, method }) => (isReadOnlyMethod(method, model) ? null : { model, method }),
    ask: async (args, session) => `Call ${args.method} for ${await describeTarget(args, session)}?`,
  },
  async run({ model, method, ids, arguments: positional = [], keyword = {}, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    const { context, ...named } = keyword;
    const params = ids === undefined ? positional : [ids, ...positional];
    const isContext = typeof context === 'object' && context !== null;
    const result = await session.call(target, model, method, params, {
      keyword: named,
      change: { approval },
      ...(isContext ? { context: { ...context } } : {}),
    });
    let isClipped = false;
    const shown = showValue(result, SINGLE_TEXT_MAX, () => {
      isClipped = true;
    });
    return { result: shown, ...(isClipped ? { is_clipped: true } : {}), note: DATA_NOTE };
  },
});
