/**
 * Refuses a call that searches, sorts or groups by a field that Odoo cannot use so: up to 18, Odoo leaves out such a
 * condition or order, and the result has records that the caller did not ask for. A caller that expects the behaviour
 * of Odoo gets it, unless the types of the fields are in memory (docs/execute.md#fields-that-cannot-be-searched).
 */
import { type FieldClause, type FieldUse, type FieldUses, takesQuery } from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import type { CompiledPolicy } from '@erp-proxy/policy';
import { mayNameField } from '@erp-proxy/policy/abilities';
import { findNearestOfMany } from '@erp-proxy/text';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { explainFailure, isPassing } from '../terms/upstream-denials.ts';
import { replyInvalidQuery } from './reply-invalid-query.ts';

interface QueryingCall {
  model: string;
  method: string;
}

/** Models that a query may lead through. */
const MODELS_MAX = 16;
const NEAREST_MAX = 5;

/** Null: the call may be sent. `list` lists the fields of the call. */
export async function checkQuery(
  call: QueryingCall,
  list: () => Promise<FieldUses>,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<FaultReply | Denial | null> {
  if (!takesQuery(call.model, call.method)) return null;
  const asks = expectsCheck(context);
  if (!asks && fields.recall({ target, model: call.model }) === null) return null;
  const { uses } = await list();
  const queried = uses.filter(({ clause }) => clause !== undefined);
  return queried.length === 0 ? null : await check(queried);

  async function check(uses: FieldUses['uses']): Promise<FaultReply | Denial | null> {
    const types = new Map<string, FieldTypes>();
    for (;;) {
      const checked = checkClauses(call.model, uses, types);
      if (checked.kind === 'unusable') return await refuse(checked.field, types, context.client.policy);
      const lacking = [...checked.lacking].filter(([model]) => !types.has(model));
      if (lacking.length === 0) return null;
      if (types.size >= MODELS_MAX) return asks ? TOO_MANY_MODELS : null;
      for (const [model, names] of lacking) {
        const found = asks ? await fields.find({ target, model }, names, context) : recall(model);
        // Odoo answers the call itself with any other failure.
        if ('failed' in found && isPassing(found.failed)) return explain(found.failed, model);
        types.set(model, 'failed' in found ? NO_TYPES : found.types);
      }
    }
  }

  function recall(model: string): { types: FieldTypes } {
    return { types: fields.recall({ target, model }) ?? NO_TYPES };
  }
}

const NO_TYPES: FieldTypes = new Map();
const TOO_MANY_MODELS = new Denial(
  'invalid_params',
  `The conditions and the order lead through more than ${MODELS_MAX} models, so that their fields cannot be checked. The call was not sent: use fewer related fields.`,
);

/** Callers of our own forms, and those that prefer them, do not know what Odoo leaves out. */
function expectsCheck({ areValuesNormalized, request: { via } }: CallContext): boolean {
  return areValuesNormalized || (via !== null && via !== 'console');
}

function explain(failed: FaultReply | Denial, model: string): FaultReply | Denial {
  return explainFailure(
    failed,
    `Which fields of \`${model}\` can be searched and sorted could not be found. The call was not sent.`,
  );
}

async function refuse(
  unusable: UnusableField,
  types: ReadonlyMap<string, FieldTypes>,
  policy: CompiledPolicy | null,
): Promise<FaultReply> {
  const { model, field, clause, path } = unusable;
  const known = types.get(model) ?? NO_TYPES;
  const nearest = await listUsable(unusable, known, policy);
  const inPath = path.length > 1 ? `, in \`${path.join('.')}\`` : '';
  const instead = nearest.length === 0 ? '' : ` Use another field, such as ${nearest.map(quote).join(', ')}.`;
  const message = `The field \`${field}\` of \`${model}\` ${REASONS[clause]}${inPath}.${instead}`;
  return replyInvalidQuery(message, nearest);
}

const REASONS: Record<UnusableField['clause'], string> = {
  domain: 'cannot be searched: Odoo computes it and does not store it, so that a domain cannot compare it',
  order: 'cannot be sorted by: it is no column of the database',
  groupby: 'cannot be grouped by: it is no column of the database',
};

function quote(name: string): string {
  return `\`${name}\``;
}

/** Fields for the same clause that the key may see: those with a similar name, then others of the same type. */
async function listUsable(
  { model, field, clause }: UnusableField,
  known: FieldTypes,
  policy: CompiledPolicy | null,
): Promise<string[]> {
  const accepts = (name: string) =>
    canBeUsed({ model, field: name, clause }, known.get(name)!) && mayNameField(policy, model, name);
  const near = await findNearestOfMany(field, [...known.keys()], NEAREST_MAX, { accepts });
  const wanted = known.get(field)?.type;
  const alike = fill(near, known, (name, { type }) => type === wanted && accepts(name));
  return alike.length > 0 ? alike : fill([], known, accepts);
}

/** Adds fields to the list, up to the maximum number that an error names. */
function fill(
  listed: readonly string[],
  known: FieldTypes,
  isWanted: (name: string, type: FieldType) => boolean,
): string[] {
  const names = [...listed];
  for (const [name, type] of known) {
    if (names.length === NEAREST_MAX) break;
    if (!names.includes(name) && isWanted(name, type)) names.push(name);
  }
  return names;
}

/** A field that cannot be used in a clause of the query (docs/odoo-facts.md#unsearchable-fields). */
interface UnusableField {
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
 * Fields that Odoo 19 can search and sort by, because their modules provide the SQL, although the server does not say
 * so. Other versions cannot.
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

function checkClauses(
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

/** Adds the fields whose types are not known to `lacking`. */
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
