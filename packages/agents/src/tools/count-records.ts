/** `count_records`: counts the records that match a domain. */

import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
import { readDomain } from './domain-times.ts';
import { listFieldsOf } from './search-records.ts';

export const countRecords = defineTool({
  name: 'count_records',
  title: 'Count records',
  description: 'Returns the number of records that match a domain; without `domain`, of all.',
  input: z.strictObject({
    model: given.model,
    domain: given.sameDomain,
    instance: given.instance,
    instances: given.instances,
  }),
  output: z.object({ count: z.int(), time_zone: given.timeZone }),
  example: '{"model": "res.partner", "domain": [["is_company", "=", true]]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'search_count'),
  async run({ model, domain = [], instance }, session) {
    const target = await session.pickInstance(instance);
    await session.checkFields(target, model, listFieldsOf(domain));
    const { where, zone } = await readDomain(session, target, model, domain);
    const count = await session.call(target, model, 'search_count', [where]);
    if (Number.isSafeInteger(count)) return { count, ...zone };
    throw new ToolError('upstream_bad_response', 'Odoo answered with something else than a number.', {
      next: 'Tell the user.',
    });
  },
});
