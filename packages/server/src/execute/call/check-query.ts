/**
 * Refuses a call that searches, sorts or groups by a field that Odoo cannot use so: up to 18, Odoo leaves out such a
 * condition or order, and the result has records that the caller did not ask for. A caller that expects the behaviour
 * of Odoo gets it, unless the types of the fields are in memory (docs/execute.md#fields-that-cannot-be-searched).
 */
import { type FieldUses, takesQuery } from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import type { CompiledPolicy } from '@erp-proxy/policy';
import { mayNameField } from '@erp-proxy/policy/abilities';
import { findNearestOfMany } from '@erp-proxy/text';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { canBeUsed, checkClauses, type UnusableField } from './check-clauses.ts';
import { explainFailure, isPassing } from './explain-failure.ts';
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

/** Adds fields to the list until it has the most that are named. */
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
