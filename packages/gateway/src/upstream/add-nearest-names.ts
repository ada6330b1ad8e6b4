/**
 * Step: if Odoo does not know a model, field or method that the call names, adds the near names that exist to the
 * error. These are names that the user of the call and the policy of its key may see. It precedes shareRead, so that
 * its part of the reply comes last: callers that share a read have policies of their own.
 */

import { waitFor } from '@erp-proxy/async/tasks';
import { type Clients, PROXY_CLIENT } from '@erp-proxy/control/keys';
import type { Events } from '@erp-proxy/observe/events';
import { listOtherNames, listWellKnownMethods, type NameKind } from '@erp-proxy/odoo';
import { findUnknownName, type UnknownName } from '@erp-proxy/odoo/faults';
import { mayCall, mayNameField, mayNameModel } from '@erp-proxy/policy/abilities';
import { findNearestOfMany } from '@erp-proxy/text';
import { askStore } from '../terms/ask-store.ts';
import type { CallContext } from '../terms/call-context.ts';
import { UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import type { KnownNames, NameSources } from './known-names.ts';

export interface AddNearestNamesDeps {
  knownNames: KnownNames;
  clients: Clients;
  events: Pick<Events, 'faultSeen'>;
}

/** The part of a call that its names are compared with. */
export interface NamingCall {
  target: Target;
  model: string;
  method: string;
}

type Policy = CallContext['client']['policy'];

/** Maximum number of names in `data.nearest`. */
const NEAREST_MAX = 5;
/**
 * Maximum wait for the names. It is also at most half of the time that the call has left. A question that takes longer
 * continues for the callers after this one.
 */
const WAIT_MS = 1000;

export function addNearestNames(deps: AddNearestNamesDeps, sources: NameSources): Step<NamingCall> {
  return async function addNearestNames(call, context, next) {
    return await suggestNames(await next(context), call, context, deps, sources);
  };
}

/** The reply with the nearest names if it is an error about an unknown one, otherwise as it is. Never rejects. */
export async function suggestNames(
  reply: Reply,
  call: NamingCall,
  context: CallContext,
  { knownNames, clients, events }: AddNearestNamesDeps,
  sources: NameSources,
): Promise<Reply> {
  if (!('kind' in reply) || reply.kind !== 'fault' || context.time.signal.aborted) return reply;
  const found = findUnknownName(reply.fault, call);
  if (found === null || !mayNameModel(context.client.policy, found.model)) return reply;
  try {
    return await suggest(reply, found);
  } catch (error) {
    events.faultSeen(context.request.exchange.requestId, error);
    return reply;
  }

  async function suggest(fault: FaultReply, unknown: UnknownName): Promise<FaultReply> {
    const { client, time } = context;
    const limits = { signal: time.signal, timeoutMs: Math.min(WAIT_MS, time.leftMs / 2) };
    const known = await waitFor(findKnown(unknown), limits);
    if (typeof known === 'symbol') return fault;
    // The policy may have changed while Odoo was asked. The proxy itself is no stored client.
    const renew = async () => (client === PROXY_CLIENT ? client : clients.renew(client));
    const now = await askStore(renew, UNREADABLE_POLICY);
    if (now instanceof Denial || 'refused' in now) return fault;
    const nearest = await chooseNames(unknown, known, now.policy);
    return nearest === null ? fault : addNames(fault, nearest);
  }

  async function findKnown({ kind, model }: UnknownName): Promise<readonly string[]> {
    if (kind === 'method') return listWellKnownMethods(model);
    return await (kind === 'model'
      ? knownNames.findModels(call.target, sources, context)
      : knownNames.findFields({ target: call.target, model }, sources, context));
  }
}

/** Null if there is nothing to compare with, so that even an empty list would say too much. */
async function chooseNames(
  { kind, model, name }: UnknownName,
  known: readonly string[],
  policy: Policy,
): Promise<string[] | null> {
  // If the name is known, Odoo means something else, such as a field that cannot be sorted by.
  if (known.length === 0 || known.includes(name)) return null;
  const options = {
    accepts: (candidate: string) => MAY_NAME[kind](policy, model, candidate),
    listOtherTexts: (candidate: string) => listOtherNames(kind, candidate),
  };
  // Odoo takes no path here, or the function of a grouping: the field comes first.
  const compared = kind === 'field' ? name.split(/[.:/]/, 1)[0]! : name;
  const nearest = await findNearestOfMany(compared, known, NEAREST_MAX, options);
  // A model has more methods than those that are well known.
  return kind === 'method' && nearest.length === 0 ? null : nearest;
}

const MAY_NAME: Record<NameKind, (policy: Policy, model: string, candidate: string) => boolean> = {
  model: (policy, _, candidate) => mayNameModel(policy, candidate),
  field: mayNameField,
  method: mayCall,
};

function addNames(reply: FaultReply, nearest: string[]): FaultReply {
  const { fault } = reply;
  return { ...reply, fault: { ...fault, data: { ...fault.data, nearest } } };
}
