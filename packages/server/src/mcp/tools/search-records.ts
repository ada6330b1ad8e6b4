/** `search_records`: finds records by a text or a domain, page by page. */

import { mayCallAnywhere, mayUseData } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRows, pickMembers } from '../as-rows.ts';
import { chooseShown } from '../fields.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';
import { readDomain } from './domain-times.ts';
import { findByText } from './find-by-text.ts';
import { planReading } from './related-records.ts';
import { showFound } from './show-found.ts';

const LIMIT = 10;
const LIMIT_MAX = 100;

export const searchRecords = defineTool({
  name: 'search_records',
  title: 'Search records',
  description:
    'Finds records by `query` (a name as other answers show it, or a part of a name, number, reference, origin, e-mail, phone, partner or product), by `domain` (exact conditions), or by both. A many2one comes as {id, name}. For a number of records use count_records, for sums use aggregate_records.',
  input: z.strictObject({
    model: given.model,
    query: z.string().max(200).optional().describe('Part of a name, e.g. “Deco Addict”, “S00012”.'),
    domain: given.domain,
    fields: given.fieldPaths('the most important ones, unless empty'),
    order: given.order,
    limit: given.limit(LIMIT, LIMIT_MAX),
    offset: given.offset,
    lang: given.lang,
    instance: given.instance,
  }),
  output: z.object({
    records: z.array(given.record),
    next: given.next,
    hint: z.string().optional(),
    unknown_fields: given.unknownFields,
    clipped: given.clipped,
    not_read: given.notRead,
    time_zone: given.timeZone,
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "sale.order", "domain": [["state", "=", "draft"], ["partner_id", "ilike", "deco"]]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'search_read'),
  async run(args, session) {
    const { model, query = '', domain = [], fields = [], order, limit = LIMIT, offset = 0, instance } = args;
    const target = await session.pickInstance(instance);
    const plan = await planReading(session, target, model, fields, listFieldsOf(domain));
    const known = await session.fields(target, model);
    const isChosen = fields.length > 0;
    const names = isChosen ? plan.names : session.chooseFields(known, (all) => chooseShown(all, model));
    const text = query.trim();
    const { where, zone } = await readDomain(session, target, model, domain);
    const byText = text === '' ? [] : await findByText(session, target, { model, known, text, where });
    // Joined without an operator, all conditions must hold.
    const params = [[...where, ...byText], names, offset, limit + 1, ...(order === undefined ? [] : [order])];
    const context = { bin_size: true };
    const rows = asRows(
      await session.call(target, model, 'search_read', params, { context, names: PARAMETERS }),
    );
    const isLimited = rows.length > limit || rows.length === session.policyLimit;
    const page = pickMembers(rows.slice(0, limit), names);
    const omits = isChosen ? 'nothing' : 'null';
    const { records, ...more } = await showFound(session, target, { model, rows: page, known, plan, omits });
    const isMore = isLimited || records.length < page.length;
    // The hint is for lists: a model that asks for a few records does not need all of them.
    const isLong = isMore && (limit === LIMIT_MAX || (offset > 0 && args.limit === undefined));
    const isEmpty = records.length === 0 && offset === 0;
    const mayBeArchived = known?.has('active') === true && !listFieldsOf(domain).includes('active');
    return {
      records,
      ...(isMore ? { next: offset + records.length } : {}),
      ...(isLong && mayUseData(session.policy, 'export')
        ? { hint: explainExport(target.name, model, params) }
        : {}),
      ...(isEmpty && mayBeArchived ? { hint: ARCHIVED_HINT } : {}),
      ...zone,
      ...more,
    };
  },
});

const ARCHIVED_HINT = 'No active record matches. For archived ones, add ["active","=",false] to `domain`.';
const EXPORT_LENGTH_MAX = 1000;

/** Tells how a program gets all records of a list, by the domain and the fields of the call. */
function explainExport(instance: string, model: string, [domain, fields]: readonly unknown[]): string {
  const body = JSON.stringify({ model_id: model, domain, fields, erp_instance: { name: instance } });
  const sent = body.length > EXPORT_LENGTH_MAX ? '' : ` ${body}`;
  return `All records at once: a program can send POST /api/erp/export with this key${sent}.`;
}

/** The tool's names for the positional arguments of the call, in their order. */
const PARAMETERS = ['domain', 'fields', 'offset', 'limit', 'order'];

/** The field names in the conditions of a domain. */
export function listFieldsOf(domain: readonly unknown[]): string[] {
  return domain.flatMap((item) => (Array.isArray(item) && typeof item[0] === 'string' ? [item[0]] : []));
}
