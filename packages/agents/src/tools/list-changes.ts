/** `list_changes`: records that were created or changed since an earlier answer. */

import { isObject } from '@erp-proxy/json';
import { mayCallAnywhere, mayUseData } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { pickMembers } from '../as-rows.ts';
import { chooseShown } from '../fields.ts';
import { linkRecords } from '../links.ts';
import { DATA_NOTE, showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';
import { readDomain } from './domain-times.ts';
import { listFieldsOf } from './search-records.ts';

const LIMIT = 20;
const LIMIT_MAX = 100;
/** Longer than any cursor. */
const SINCE_LENGTH_MAX = 128 * 1024;

export const listChanges = defineTool({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists records that were made or changed since an earlier answer: send its `cursor` as `since`, with the same model, domain and fields. Without `since` it begins with all records that match. For records changed after a date use search_records with write_date.',
  input: z.strictObject({
    model: given.model,
    since: z.string().max(SINCE_LENGTH_MAX).optional().describe('`cursor` of the previous answer.'),
    domain: given.sameDomain,
    fields: given.fields,
    limit: given.limit(LIMIT, LIMIT_MAX),
    instance: given.instance,
  }),
  output: z.object({
    changes: z.array(
      z.object({
        change: z.enum(['upsert', 'left']).describe('left: changed, and does not match the domain.'),
        id: z.int(),
        at: z.string().nullable(),
        record: given.record.optional(),
      }),
    ),
    cursor: z.string().describe('Send this as `since`.'),
    more: z.boolean().describe('There are more changes already.'),
    clipped: given.clipped,
    time_zone: given.timeZone,
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "sale.order", "fields": ["name", "state"], "domain": [["state", "=", "sale"]]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayUseData(policy, 'changes') && mayCallAnywhere(policy, 'search_read'),
  async run({ model, since = null, domain = [], fields, limit = LIMIT, instance }, session) {
    const target = await session.pickInstance(instance);
    const known = await session.fields(target, model);
    const names = fields?.length ? fields : session.chooseFields(known, (all) => chooseShown(all, model));
    await session.checkFields(target, model, [...names, ...listFieldsOf(domain)]);
    const { where, zone } = await readDomain(session, target, model, domain);
    const printTime = await session.timePrinter(target);
    // The cursor covers all changes of its answer. If some do not fit into the tool's answer, the call is repeated with
    // a lower limit.
    for (let count = limit; ; ) {
      const query = { model, domain: where, fields: names, since, limit: count };
      const read = await session.readChanges(target, query);
      const rows = pickMembers(
        read.changes.map(({ id, record }) => (isObject(record) ? record : { id })),
        names,
      );
      const { records, clipped, isCut } = showRecords(rows, known, { printTime });
      if (isCut) {
        count = records.length;
        continue;
      }
      return {
        changes: read.changes.map(({ change, id, at: time }, index) => {
          const at = time === null ? null : printTime(time);
          return change === 'upsert'
            ? { change, id, at, record: records[index] }
            : { change: 'left', id, at };
        }),
        cursor: read.cursor,
        more: read.more,
        ...zone,
        ...(clipped.length > 0 ? { clipped } : {}),
        ...(read.changes.length > 0 ? { link: linkRecords(target.url, model), note: DATA_NOTE } : {}),
      };
    }
  },
});
