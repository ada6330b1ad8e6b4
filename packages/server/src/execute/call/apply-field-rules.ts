/**
 * Applies the rules of a policy for fields to a call, once its server is known. The types of fields tell which models
 * the call reaches. A call that names no fields gets those that the policy allows.
 */
import type { Client } from '../../keys/keys.ts';
import type { FieldUses, ListableFields } from '../../odoo/fields/field-uses.ts';
import type { FieldTypes } from '../../odoo/values/field-types.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import { namesMethod } from '../../policy/decide.ts';
import { type AllowedFields, decideFields, listAllowedFields } from '../../policy/decide-fields.ts';
import type { FieldRules } from '../../policy/field-rules.ts';
import type { LackingTypes } from '../../policy/judge-fields.ts';
import type { Awaitable } from '../../streams/and-then.ts';
import type { CallContext } from '../terms/call-context.ts';
import { denyPolicy } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import { explainFailure } from './explain-failure.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';

/** Maximum number of models whose types are asked for. The fields of all others count as unknown. */
const MODELS_MAX = 64;
const NO_TYPES: FieldTypes = new Map();

type Applied<AnyCall> = { call: AnyCall } | { reply: Reply };

export function applyFieldRules(
  call: Call,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<Applied<Call>> {
  return apply(call, CALL_FIELDS, { target, context, fields });
}

/** The same for a call of `/json/2`. */
export function applyFieldRulesToJson2(
  call: Json2Call,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<Applied<Json2Call>> {
  return apply(call, JSON2_FIELDS, { target, context, fields });
}

/** The fields of one kind of call. */
interface CallFields<AnyCall> {
  list(call: AnyCall, signal: AbortSignal): Awaitable<FieldUses>;
  set(
    call: AnyCall,
    unnamed: ListableFields,
    fields: readonly string[],
    signal: AbortSignal,
  ): Awaitable<AnyCall>;
}

const CALL_FIELDS: CallFields<Call> = {
  list: largeCalls.listCallFields,
  set: largeCalls.setCallFields,
};
const JSON2_FIELDS: CallFields<Json2Call> = {
  list: largeCalls.listJson2Fields,
  set: largeCalls.setJson2Fields,
};

/** Whether calls of the client are restricted to some fields. */
export function hasFieldRules({ policy }: Pick<Client, 'policy'>): boolean {
  return policy !== null && policy.fields !== null;
}

/** Whether a call whose fields were judged for one client need not be judged again for the other. */
export function hasSameFieldRules(one: Pick<Client, 'policy'>, other: Pick<Client, 'policy'>): boolean {
  return describeRules(one) === describeRules(other);
}

function describeRules({ policy }: Pick<Client, 'policy'>): string | undefined {
  return JSON.stringify(policy?.policy.fields);
}

interface Server {
  target: Target;
  context: CallContext;
  fields: FieldFinder;
}

async function apply<AnyCall extends NamedMethod>(
  call: AnyCall,
  callFields: CallFields<AnyCall>,
  server: Server,
): Promise<Applied<AnyCall>> {
  const { client, time } = server.context;
  const { policy } = client;
  if (policy === null || policy.fields === null) return { call };
  const uses = await callFields.list(call, time.signal);
  const { unnamed } = uses;
  const found = await decideWithTypes(call, uses, policy, policy.fields, server);
  if ('reply' in found) return found;
  if (unnamed === null || !unnamed.canList || found.fields === null) return { call };
  return { call: await callFields.set(call, unnamed, found.fields, time.signal) };
}

interface NamedMethod {
  model: string;
  method: string;
}

/** Asks for types until the decision depends on no others. `fields` null: the call stays as it is. */
async function decideWithTypes(
  { model, method }: NamedMethod,
  uses: FieldUses,
  policy: CompiledPolicy,
  rules: FieldRules,
  server: Server,
): Promise<{ fields: readonly string[] | null } | { reply: Reply }> {
  const known = new Map<string, FieldTypes>();
  const request = { model, method, isNamed: namesMethod(policy, model, method), uses };
  for (;;) {
    const decided = decideFields(rules, request, known);
    if (decided.kind === 'denied') return { reply: denyPolicy(decided) };
    const listed: AllowedFields =
      uses.unnamed === null ? { kind: 'all' } : listAllowedFields(rules, model, uses.unnamed, known);
    if (listed.kind === 'denied') return { reply: denyPolicy(listed) };
    const lacking = [...decided.lacking, ...(listed.kind === 'lacking' ? listed.lacking : [])];
    if (lacking.length === 0) return { fields: listed.kind === 'listed' ? listed.fields : null };
    const failed = await learnTypes(new Map(lacking), model, known, server);
    if (failed !== null) return { reply: failed };
  }
}

async function learnTypes(
  lacking: LackingTypes,
  own: string,
  known: Map<string, FieldTypes>,
  { target, context, fields }: Server,
): Promise<FaultReply | Denial | null> {
  for (const [model, names] of lacking) {
    const found = known.size < MODELS_MAX ? await fields.find({ target, model }, names, context) : UNKNOWN;
    if (!('failed' in found)) known.set(model, found.types);
    else if (model === own || isPassing(found.failed)) return explain(found.failed, model);
    // The user may not use the model. Every rule is applied to fields that are not known.
    else known.set(model, NO_TYPES);
  }
  return null;
}

const UNKNOWN = { types: NO_TYPES };

/** Whether another attempt can succeed. */
function isPassing(failed: FaultReply | Denial): boolean {
  return failed instanceof Denial || failed.fault.data.retryable;
}

function explain(failed: FaultReply | Denial, model: string): FaultReply | Denial {
  if (failed === CHANGED) return failed;
  return explainFailure(
    failed,
    `This key may not use all fields, and those of \`${model}\` could not be found. The call was not sent.`,
  );
}
