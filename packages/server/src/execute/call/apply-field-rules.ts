/**
 * Applies the rules of a policy for fields to a call, once its server is known. The types of fields tell which models
 * the call reaches. A call that names no fields gets those that the policy allows, and one that gives no order may get
 * the order by id.
 */
import type { Client } from '../../keys/keys.ts';
import type { ArgumentPlace, FieldUses } from '../../odoo/fields/field-uses.ts';
import type { ModelOrders } from '../../odoo/fields/model-orders.ts';
import type { FieldTypes } from '../../odoo/values/field-types.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import { namesMethod } from '../../policy/decide.ts';
import {
  type AllowedFields,
  decideFields,
  decideOrder,
  type Lacking,
  listAllowedFields,
} from '../../policy/decide-fields.ts';
import type { FieldRules } from '../../policy/field-rules.ts';
import type { Awaitable } from '../../streams/and-then.ts';
import type { CallContext } from '../terms/call-context.ts';
import { denyPolicy } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { OrderFinder } from '../terms/order-finder.ts';
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
  finders: Finders,
): Promise<Applied<Call>> {
  return apply(call, CALL_FIELDS, { target, context, ...finders });
}

/** The same for a call of `/json/2`. */
export function applyFieldRulesToJson2(
  call: Json2Call,
  target: Target,
  context: CallContext,
  finders: Finders,
): Promise<Applied<Json2Call>> {
  return apply(call, JSON2_FIELDS, { target, context, ...finders });
}

/** The fields of one kind of call. */
interface CallFields<AnyCall> {
  list(call: AnyCall, signal: AbortSignal): Awaitable<FieldUses>;
  /** `value` is JSON. */
  set(call: AnyCall, place: ArgumentPlace, value: string, signal: AbortSignal): Awaitable<AnyCall>;
}

const CALL_FIELDS: CallFields<Call> = {
  list: largeCalls.listCallFields,
  set: largeCalls.setCallArgument,
};
const JSON2_FIELDS: CallFields<Json2Call> = {
  list: largeCalls.listJson2Fields,
  set: largeCalls.setJson2Argument,
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

/** What the rules need to know of a server. */
export interface Finders {
  fields: FieldFinder;
  orders: OrderFinder;
}

interface Server extends Finders {
  target: Target;
  context: CallContext;
}

/** An argument of the call, and the JSON that it gets. */
interface SetArgument {
  place: ArgumentPlace;
  value: string;
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
  const decided = await decideWithServer(call, uses, policy, policy.fields, server);
  if ('reply' in decided) return decided;
  let changed = call;
  for (const { place, value } of decided.sets)
    changed = await callFields.set(changed, place, value, time.signal);
  return { call: changed };
}

interface NamedMethod {
  model: string;
  method: string;
}

/** Asks the server until the decision depends on nothing else. */
async function decideWithServer(
  { model, method }: NamedMethod,
  uses: FieldUses,
  policy: CompiledPolicy,
  rules: FieldRules,
  server: Server,
): Promise<{ sets: readonly SetArgument[] } | { reply: Reply }> {
  const known: LearntKnown = { types: new Map(), orders: null };
  const request = { model, method, isNamed: namesMethod(policy, model, method), uses };
  const { unnamed } = uses;
  for (;;) {
    const decided = decideFields(rules, request, known);
    if (decided.kind === 'denied') return { reply: denyPolicy(decided) };
    const listed: AllowedFields =
      unnamed === null ? { kind: 'all' } : listAllowedFields(rules, model, unnamed, known);
    if (listed.kind === 'denied') return { reply: denyPolicy(listed) };
    const ordered = decideOrder(rules, request, known);
    if (ordered.kind === 'denied') return { reply: denyPolicy(ordered) };
    const lacking = [decided, listed, ordered].flatMap((each) => ('lacking' in each ? [each.lacking] : []));
    const failed = await learn(lacking, model, known, server);
    if (failed === 'nothing') {
      const sets: SetArgument[] = [];
      if (listed.kind === 'listed' && unnamed?.canList === true)
        sets.push({ place: unnamed, value: JSON.stringify(listed.fields) });
      if (ordered.kind === 'by_id') sets.push({ place: ordered.argument, value: BY_ID });
      return { sets };
    }
    if (failed !== null) return { reply: failed };
  }
}

const BY_ID = '"id"';

/** What the server has said to this call so far. */
interface LearntKnown {
  types: Map<string, FieldTypes>;
  orders: ModelOrders | null;
}

/** Asks the server for what decisions lack. `nothing`: they lack nothing. Null: it has answered. */
async function learn(
  lacking: readonly Lacking[],
  own: string,
  known: LearntKnown,
  server: Server,
): Promise<FaultReply | Denial | 'nothing' | null> {
  const types = new Map(lacking.flatMap((each) => [...each.types]));
  const lacksOrders = lacking.some(({ orders }) => orders);
  if (types.size === 0 && !lacksOrders) return 'nothing';
  const failed = await learnTypes(types, own, known.types, server);
  if (failed !== null || !lacksOrders) return failed;
  const found = await server.orders.find(server.target, server.context);
  if ('failed' in found) return explain(found.failed, 'the order of records');
  known.orders = found.orders;
  return null;
}

async function learnTypes(
  lacking: ReadonlyMap<string, ReadonlySet<string>>,
  own: string,
  known: Map<string, FieldTypes>,
  { target, context, fields }: Server,
): Promise<FaultReply | Denial | null> {
  for (const [model, names] of lacking) {
    const found = known.size < MODELS_MAX ? await fields.find({ target, model }, names, context) : UNKNOWN;
    if (!('failed' in found)) known.set(model, found.types);
    else if (model === own || isPassing(found.failed)) return explain(found.failed, `those of \`${model}\``);
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

/** `missing`: what could not be found. */
function explain(failed: FaultReply | Denial, missing: string): FaultReply | Denial {
  if (failed === CHANGED) return failed;
  return explainFailure(
    failed,
    `This key may not use all fields, and ${missing} could not be found. The call was not sent.`,
  );
}
