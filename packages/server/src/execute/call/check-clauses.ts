/**
 * Finds conditions, orders and groupings of a call on fields that Odoo cannot use so. Up to 18, Odoo ignores such a
 * condition or order, and returns other records than the caller asked for (docs/odoo-facts.md#unsearchable-fields).
 */

import type { FieldClause, FieldUse } from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';

/** A field that cannot be used in a clause of the query. */
export interface UnusableField {
  model: string;
  field: string;
  clause: FieldClause['kind'];
  /** The whole path, as the call names it. */
  path: readonly string[];
}

export type CheckedClauses =
  | { kind: 'unusable'; field: UnusableField }
  /** Fields whose types decide, by model. Empty: the query can be used, as far as the types are known. */
  | { kind: 'usable'; lacking: ReadonlyMap<string, ReadonlySet<string>> };

/** Columns of every model that has them. */
const COLUMNS: ReadonlySet<string> = new Set(['id', 'create_date', 'create_uid', 'write_date', 'write_uid']);
/** The server does not tell that a module sorts by these fields: the first in all versions, the others up to 17. */
const SORTED_BY_MODULES: ReadonlySet<string> = new Set([
  'crm.lead my_activity_date_deadline',
  'account.move.line payment_date',
  'project.project is_favorite',
]);
/**
 * The server does not tell that 19 can search these fields, whose modules give them in SQL. They can be sorted by
 * there, and not in other versions.
 */
const SEARCHED_BY_MODULES: ReadonlySet<string> = new Set([
  'account.move status_in_payment',
  'account.bank.statement.line status_in_payment',
  'account.account.tag balance_negate',
  'account.account.tag report_expression_id',
  'crm.lead company_currency',
]);
/** The server does not tell that a module groups by these fields. */
const GROUPED_BY_MODULES: ReadonlySet<string> = new Set(['project.task personal_stage_type_id']);
const IS_UNUSABLE = {
  domain: ({ isUnsearchable }: FieldType) => isUnsearchable === true,
  order: ({ isUnsortable }: FieldType) => isUnsortable === true,
  groupby: ({ isUngroupable }: FieldType) => isUngroupable === true,
};

/** True if the field can be used in a clause of this kind. `type`: its type, as the server describes it. */
export function canBeUsed({ model, field, clause }: Omit<UnusableField, 'path'>, type: FieldType): boolean {
  if (!IS_UNUSABLE[clause](type)) return true;
  const name = `${model} ${field}`;
  if (clause === 'order') return SORTED_BY_MODULES.has(name);
  if (clause === 'groupby') return GROUPED_BY_MODULES.has(name);
  return type.isUnsortable !== true && SEARCHED_BY_MODULES.has(name);
}

export function checkClauses(
  own: string,
  uses: readonly FieldUse[],
  types: ReadonlyMap<string, FieldTypes>,
): CheckedClauses {
  const lacking = new Map<string, Set<string>>();
  // The order of groups can name aggregates.
  const hasGroups = uses.some(({ clause }) => clause?.kind === 'groupby');
  for (const { path, clause } of uses) {
    if (clause === undefined || (hasGroups && clause.kind === 'order')) continue;
    const field = findUnusable(own, path, clause, types, lacking);
    if (field !== null) return { kind: 'unusable', field };
  }
  return { kind: 'usable', lacking };
}

/** Notes in `lacking` the fields whose types are not known. */
function findUnusable(
  own: string,
  path: readonly string[],
  { kind, base }: FieldClause,
  types: ReadonlyMap<string, FieldTypes>,
  lacking: Map<string, Set<string>>,
): UnusableField | null {
  let model = own;
  for (const [index, field] of path.entries()) {
    const isLast = index === path.length - 1;
    if (COLUMNS.has(field) && (isLast || field === 'id')) continue;
    const known = types.get(model);
    if (known === undefined) {
      lacking.set(model, (lacking.get(model) ?? new Set()).add(field));
      return null;
    }
    const type = known.get(field);
    // Odoo reports an unknown field.
    if (type === undefined) return null;
    // The first field of an order or a grouping decides. Only Odoo knows what may follow it.
    const isNamed = index >= base && (kind === 'domain' || index === base);
    if (isNamed && !canBeUsed({ model, field, clause: kind }, type))
      return { model, field, clause: kind, path };
    if (type.relation === null) return null;
    model = type.relation;
  }
  return null;
}
