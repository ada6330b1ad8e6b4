/**
 * Finds records by a text: builds a domain from the fields that the key may compare, and from the results of Odoo's own
 * search by name.
 */

import { mayCall, mayReadByPath, maySearchByName, mayUseField } from '@erp-proxy/policy/abilities';
import type { InstanceRecord } from '../../instances/instances.ts';
import { asRows } from '../as-rows.ts';
import type { Fields } from '../fields.ts';
import { hasNameRule, searchByParts, searchByText, VARIANT_VALUES, VARIANTS } from '../search-by-text.ts';
import type { Session } from '../session.ts';
import { ToolError } from '../tool-error.ts';

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

/** The domain without `where`. Throws a {@link ToolError} if the model has no text field. */
export async function findByText(
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
