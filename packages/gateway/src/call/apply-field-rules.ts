/**
 * Applies the rules of a policy for fields and paths to a call, once its server is known. The types of fields tell
 * which models the call reaches. With rules for fields, a call that names none gets those that the policy allows, and
 * one that gives no order may get the order by id.
 */

import { createPauses } from '@erp-proxy/async/tasks';
import type { Client } from '@erp-proxy/control/keys';
import {
  type ArgumentPlace,
  type FieldScope,
  type FieldUses,
  type ModelOrders,
  namesReadFields,
} from '@erp-proxy/odoo/fields';
import type { FieldTypes } from '@erp-proxy/odoo/values';
import { type CompiledPolicy, namesMethod } from '@erp-proxy/policy';
import {
  type AllowedFields,
  decideColumns,
  decideFields,
  decideNamedPaths,
  decideOrder,
  decidePaths,
  type FieldRules,
  type FieldsDecision,
  type FieldsRequest,
  hideCredentials,
  type Known,
  type Lacking,
  limitsColumns,
  listAllowedFields,
  NOTHING_KNOWN,
  type Steps,
} from '@erp-proxy/policy/fields';
import type { CallContext } from '../terms/call-context.ts';
import { denyPolicy } from '../terms/caller-denials.ts';
import type { Denial } from '../terms/denial.ts';
import type { FieldFinder, OrderFinder } from '../terms/field-finder.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { explainFailure, isPassing } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import { replyInvalidQuery } from './reply-invalid-query.ts';

/** Maximum number of models whose types are asked for. A call that reaches more is refused. */
const MODELS_MAX = 256;
const DEFAULT_GET = 'default_get';
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
  list(call: AnyCall, scope: FieldScope, signal: AbortSignal): Promise<FieldUses>;
  /** `value` is JSON. */
  set(call: AnyCall, place: ArgumentPlace, value: string, signal: AbortSignal): Promise<AnyCall>;
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

/**
 * Whether a call whose fields and paths were checked for one client need not be checked again for the other. `method`:
 * that of the call, unless it only reads by `fields`.
 */
export function hasSameFieldRules(
  one: Pick<Client, 'policy'>,
  other: Pick<Client, 'policy'>,
  method?: string,
): boolean {
  if (one.policy === other.policy) return true;
  const [before, now] = [one.policy?.policy, other.policy?.policy];
  if (JSON.stringify(before?.fields) !== JSON.stringify(now?.fields)) return false;
  if (limitsColumns(method) && before?.limit_max !== now?.limit_max) return false;
  return JSON.stringify(before?.models) === JSON.stringify(now?.models);
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
  if (policy === null) return { call };
  const { fields } = policy;
  const { model, method } = call;
  const hides = policy.hiddenOf(model).size > 0;
  if (fields === null && !hides && !namesReadFields(model, method)) return { call };
  // The call was read for the rest of the policy just now.
  await createPauses(SLICE_BYTES)(call.bytes.length);
  const uses = await callFields.list(call, fields === null ? 'read' : 'all', time.signal);
  const request = { model, method, isNamed: namesMethod(policy, model, method), uses };
  if (fields === null) {
    const decided = decideNamedPaths(policy, request);
    if (decided.kind === 'denied') return { reply: denyPolicy(decided) };
    const columns = decideColumns(policy, request, NOTHING_KNOWN);
    const lacking = [decided, columns].flatMap((each) => ('lacking' in each ? [...each.lacking.types] : []));
    if (lacking.length === 0 && (!hides || uses.unnamed === null)) return { call };
  }
  const decided = await decideWithServer(request, policy, server);
  if ('reply' in decided) return decided;
  if (method === DEFAULT_GET) server.context.namedDefaults = listNamed(uses);
  let changed = call;
  for (const { place, value } of decided.sets)
    changed = await callFields.set(changed, place, value, time.signal);
  return { call: changed };
}

/** The fields of the model itself. */
function listNamed({ uses }: FieldUses): ReadonlySet<string> {
  return new Set(uses.flatMap(({ path, model }) => (model === undefined ? path : [])));
}

interface NamedMethod {
  bytes: Uint8Array;
  model: string;
  method: string;
}

/** Asks the server until the decision depends on nothing else. */
async function decideWithServer(
  request: FieldsRequest,
  policy: CompiledPolicy,
  server: Server,
): Promise<{ sets: readonly SetArgument[] } | { reply: Reply }> {
  const known: LearntKnown = { types: new Map(), orders: null };
  for (;;) {
    const decided = await runInSlices(decideAll(policy, request, known));
    if (decided.kind === 'denied') return { reply: refuse(decided) };
    const failed = await learn(decided.lacking, { own: request.model, rules: policy.fields }, known, server);
    if (failed === 'nothing') return { sets: decided.sets };
    if (failed !== null) return { reply: failed };
  }
}

/** For a path through a field that the server does not describe, replies as Odoo does for an unknown field. */
function refuse(denied: Denied): Reply {
  const { unknown = null } = denied;
  if (unknown === null) return denyPolicy(denied);
  return replyInvalidQuery(`Invalid field '${unknown.field}' on model '${unknown.model}'`);
}

type Denied = Extract<FieldsDecision, { kind: 'denied' }>;
type Decided = Denied | { kind: 'allowed'; lacking: readonly Lacking[]; sets: readonly SetArgument[] };

/** Listing the fields in this many bytes takes some milliseconds. */
const SLICE_BYTES = 16 * 1024;
/** Names are checked within some microseconds each. */
const SLICE_NAMES = 500;

async function runInSlices<Decision>(steps: Steps<Decision>): Promise<Decision> {
  const pauseAfter = createPauses(SLICE_NAMES);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pause = pauseAfter(step.value);
    if (pause !== undefined) await pause;
  }
}

/** `sets` is complete if nothing is lacking. */
function* decideAll(policy: CompiledPolicy, request: FieldsRequest, known: Known): Steps<Decided> {
  const lacking: Lacking[] = [];
  const sets: SetArgument[] = [];
  const { fields: rules } = policy;
  const { unnamed } = request.uses;
  let listed: AllowedFields = { kind: 'all' };
  if (rules !== null) {
    const decided = yield* decideFields(rules, request, known);
    if (decided.kind === 'denied') return decided;
    if (unnamed !== null) listed = yield* listAllowedFields(rules, request.model, unnamed, known);
    if (listed.kind === 'denied') return listed;
    const ordered = decideOrder(rules, request, known);
    if (ordered.kind === 'denied') return ordered;
    for (const each of [decided, ordered]) if ('lacking' in each) lacking.push(each.lacking);
    if (ordered.kind === 'by_id') sets.push({ place: ordered.argument, value: BY_ID });
  }
  const shown = hideCredentials(policy, request, listed, known);
  if (shown.kind === 'denied') return shown;
  if (shown.kind === 'lacking') lacking.push(shown.lacking);
  if (shown.kind === 'listed' && unnamed?.canList === true)
    sets.push({ place: unnamed, value: JSON.stringify(shown.fields) });
  const paths = yield* decidePaths(policy, request, known);
  if (paths.kind === 'denied') return paths;
  const columns = decideColumns(policy, request, known);
  if (columns.kind === 'denied') return columns;
  lacking.push(paths.lacking, columns.lacking);
  return { kind: 'allowed', lacking, sets };
}

const BY_ID = '"id"';

/** What the server has said to this call so far. */
interface LearntKnown {
  types: Map<string, FieldTypes>;
  orders: ModelOrders | null;
}

/** Asks the server for the facts that decisions lack. `nothing`: no fact is lacking. Null: the server has answered. */
async function learn(
  lacking: readonly Lacking[],
  { own, rules }: { own: string; rules: FieldRules | null },
  known: LearntKnown,
  server: Server,
): Promise<FaultReply | Denial | 'nothing' | null> {
  const types = new Map(lacking.flatMap((each) => [...each.types]));
  const lacksOrders = lacking.some(({ orders }) => orders);
  if (types.size === 0 && !lacksOrders) return 'nothing';
  const failed = await learnTypes(types, { own, rules }, known.types, server);
  if (failed !== null || !lacksOrders) return failed;
  const found = await server.orders.find(server.target, server.context);
  if ('failed' in found) return explain(found.failed, 'the order of records');
  known.orders = found.orders;
  return null;
}

async function learnTypes(
  lacking: ReadonlyMap<string, ReadonlySet<string>>,
  { own, rules }: { own: string; rules: FieldRules | null },
  known: Map<string, FieldTypes>,
  { target, context, fields }: Server,
): Promise<FaultReply | Denial | null> {
  for (const [model, names] of lacking) {
    if (known.size === MODELS_MAX) return denyManyModels(rules);
    const found = await fields.find({ target, model }, names, context);
    if (!('failed' in found)) known.set(model, found.types);
    else if (model === own || isPassing(found.failed)) return explain(found.failed, `those of \`${model}\``);
    // The user may not use the model. Every rule is applied to fields that are not known.
    else known.set(model, NO_TYPES);
  }
  return null;
}

function denyManyModels(rules: FieldRules | null): Denial {
  return denyPolicy({
    rule: rules === null ? 'models' : (rules.all[0]?.name ?? 'fields'),
    message: `This key may not use all fields${rules === null ? ' of related records' : ''}, and the call reaches more than ${MODELS_MAX} models. Name fewer fields, or send several calls.`,
  });
}

/** `missing`: what could not be found. */
function explain(failed: FaultReply | Denial, missing: string): FaultReply | Denial {
  return explainFailure(
    failed,
    `This key may not use all fields, and ${missing} could not be found. The call was not sent.`,
  );
}
