/** `search_records`: finds records by a text or a domain, page by page. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import {
  mayCall,
  mayCallAnywhere,
  mayReadByPath,
  maySearchByName,
  mayUseData,
  mayUseField,
} from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRows, pickMembers } from '../as-rows.ts';
import { chooseShown, type Fields } from '../fields.ts';
import { hasNameRule, searchByParts, searchByText, VARIANT_VALUES, VARIANTS } from '../search-by-text.ts';
import type { Session } from '../session.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
import { readDomain } from './domain-times.ts';
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
    instances: given.instances,
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

interface TextQuery {
  model: string;
  /** Null if the key may not ask for the fields of the model. */
  known: Fields | null;
  text: string;
  /** Further conditions that the records must fulfil. */
  where: readonly unknown[];
}

const ATTRIBUTE_VALUES = 'product.template.attribute.value';
/** Maximum records of Odoo's search by name. Other conditions of the domain find further records. */
const NAMED_MAX = 100;

/**
 * The domain that finds records by a text, without `where`: built from the fields that the key may compare, and from
 * the results of Odoo's own search by name. Throws a {@link ToolError} if the model has no text field.
 */
async function findByText(
  session: Session,
  instance: InstanceRecord,
  { model, known, text, where }: TextQuery,
): Promise<unknown[]> {
  if (known === null) return [['name', 'ilike', text]];
  const { policy } = session;
  // Reads the fields of variants, because an unknown field would make the whole search fail.
  const isVariant = known.get('product_id')?.relation === VARIANTS && text.endsWith(')');
  const variants = isVariant ? await session.fields(instance, VARIANTS) : null;
  const mayCompareVariants = (path: string) =>
    (path === '' || (mayReadByPath(policy, VARIANTS) && variants?.has(VARIANT_VALUES) === true)) &&
    mayUseField(policy, VARIANTS, 'name') &&
    mayReadByPath(policy, ATTRIBUTE_VALUES) &&
    mayUseField(policy, ATTRIBUTE_VALUES, 'name');
  const listPaths = (field: string, relation: string) => {
    if (!mayReadByPath(policy, relation)) return [];
    // A rule can deny a search by name, which compares other fields too, and still allow the field `name`.
    if (maySearchByName(policy, relation)) return [field];
    return mayUseField(policy, relation, 'name') ? [`${field}.name`] : [];
  };
  const mayCompareNames = maySearchByName(policy, model);
  const isAsked = mayCompareNames && mayCall(policy, model, 'name_search') && hasNameRule(known);
  const ids = isAsked ? await searchByName(session, instance, { model, text, where }) : [];
  const search = (mayCompare: (path: string) => boolean) =>
    searchByText({ fields: known, text, listPaths, mayCompareVariants: mayCompare, mayCompareNames, ids });
  const found = search(mayCompareVariants);
  const byParts = searchByParts({ fields: known, text, listPaths });
  if (found !== null && byParts !== null) {
    // A search by parts compares much more, so it is made only if the whole text is not found.
    const choose = async (domain: unknown[]) => {
      const rows = await session.call(instance, model, 'search_read', [[...where, ...domain], ['id'], 0, 1]);
      return asRows(rows).length > 0 ? domain : byParts;
    };
    try {
      return await choose(found);
    } catch (error) {
      // Without variants, because a rule can deny a field that shows their values.
      const plain = search(() => false);
      if (!(error instanceof ToolError && error.type === 'policy_denied') || plain === null) throw error;
      return choose(plain);
    }
  }
  if (found !== null) return found;
  throw new ToolError('query_invalid', `${model} has no field in which a text can be searched.`, {
    next: 'Use `domain` instead of `query`.',
  });
}

/** Empty if Odoo refuses. The other conditions are searched all the same. */
async function searchByName(
  session: Session,
  instance: InstanceRecord,
  { model, text, where }: Omit<TextQuery, 'known'>,
): Promise<number[]> {
  try {
    const found = await session.call(instance, model, 'name_search', [text, where, 'ilike', NAMED_MAX]);
    const ids = Array.isArray(found) ? found.map((row) => (Array.isArray(row) ? row[0] : null)) : [];
    return ids.filter((id): id is number => Number.isSafeInteger(id));
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}
