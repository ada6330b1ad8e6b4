/**
 * Step: applies the client's policy to a call. It allows or denies the call, and sets values in it. All other bytes
 * stay those of the caller.
 */

import { createReach, type DataRoute } from '@erp-proxy/contract';
import type { Client } from '@erp-proxy/control/keys';
import { type JsonSpan, readElements, readMembers, setMembers } from '@erp-proxy/json';
import { type Arguments, findLimitPosition, isReadOnlyMethod } from '@erp-proxy/odoo';
import { NO_RELATED_WRITES } from '@erp-proxy/odoo/related';
import {
  type Decision,
  decide,
  decideApproval,
  decideCaller,
  decideData,
  decideFleet,
  decideServer,
} from '@erp-proxy/policy';
import { denyPolicy } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';
import type { ValuesState } from '../terms/operation.ts';
import type { AnyParsed } from '../terms/parsed-body.ts';
import type { CallActor, Request } from '../terms/request.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import type { VersionQuestion } from './parse-version-question.ts';
import { type DescribedCall, describeCall, describeJson2Call, describeRequest } from './policy-request.ts';
import { denyUnknownInstance } from './resolve.ts';
import { type Parts, rewriteCall, rewriteJson2Call } from './rewrite-call.ts';

type Allowed = Extract<Decision, { allowed: true }> & { approvalRule: string | null };
type Sets = Allowed['sets'];

/** Checks whether the key may be used from this address and web origin, before all other rules. Returns null if so. */
export function authorizeCaller(
  { policy }: Pick<Client, 'policy'>,
  exchange: Pick<Exchange, 'address' | 'header'>,
): Denial | null {
  const browserOrigin = exchange.header('origin') ?? null;
  const denied = decideCaller(policy, { address: exchange.address, browserOrigin });
  return denied && denyPolicy(denied);
}

/** Whether the key may move data in this way; `route` null: the request moves none. */
export function authorizeData({ policy }: Pick<Client, 'policy'>, route: DataRoute | null): Denial | null {
  const denied = route === null ? null : decideData(policy, route);
  return denied && denyPolicy(denied);
}

/** Whether the call may be one of a request for many instances. Null if so, or if it is of another request. */
export function authorizeFleet(
  { method = '', model = '' }: AnyParsed,
  { policy }: Pick<Client, 'policy'>,
  { via }: Pick<Request, 'via'>,
): Denial | null {
  if (via !== 'fleet') return null;
  const denied = decideFleet(policy, { method, isReadOnly: isReadOnlyMethod(method, model) });
  return denied && denyPolicy(denied);
}

/** Checks whether an administrator who is limited to some instances may use the server of a call. Null if so. */
export function authorizeActor({ instance }: AnyParsed, actor: CallActor | null): Denial | null {
  if (actor === null || actor.instances === null) return null;
  const reach = createReach(actor.instances);
  if (instance !== undefined && 'name' in instance) {
    return reach.has(instance.name) ? null : denyUnknownInstance();
  }
  const message = `You may use the instances ${reach.text} only: name one of them, and send no credentials of your own.`;
  return new Denial('policy_denied', message, { rule: 'operators' });
}

/** Unconverted values are no commands of Odoo yet, so that the rule for related records checks those that are sent. */
export function authorizeCall(
  call: Call,
  { policy }: Pick<Client, 'policy'>,
  values: ValuesState = 'sent',
): Call | Denial {
  if (policy === null) return call;
  const described = describeCall(call);
  const allowed = authorize(described, policy, values);
  if (allowed instanceof Denial) return allowed;
  const { sets } = allowed;
  // `read` takes no limit in Odoo, so call/limit.ts applies this one.
  return {
    ...setValues(call, described.args, sets),
    limit: sets.limit ?? call.limit,
    ...pickLimit(sets),
    ...pickApproval(allowed),
    ...pickTypes(allowed),
  };
}

function pickApproval({ approvalRule }: Allowed): Pick<AnyParsed, 'approvalRule'> {
  return approvalRule === null ? {} : { approvalRule };
}

function pickTypes({ lacksTypes }: Allowed): Pick<AnyParsed, 'lacksTypes'> {
  return lacksTypes === undefined ? {} : { lacksTypes };
}

function pickLimit({ limit }: Sets): { policyLimit?: number } {
  return limit === undefined ? {} : { policyLimit: limit };
}

/** The same for a call of `/json/2`, whose arguments have names. */
export function authorizeJson2Call(call: Json2Call, { policy }: Pick<Client, 'policy'>): Json2Call | Denial {
  if (policy === null) return call;
  const described = describeJson2Call(call);
  const allowed = authorize(described, policy);
  if (allowed instanceof Denial) return allowed;
  const { sets } = allowed;
  const named = listNamed(described.args, call.method, sets);
  return {
    ...rewriteJson2Call(call, named),
    ...pickLimit(sets),
    ...pickApproval(allowed),
    ...pickTypes(allowed),
  };
}

/** The same for a version question. A client that may not call the server does not learn whether egress allows it. */
export function authorizeVersionQuestion(
  question: VersionQuestion,
  { policy }: Pick<Client, 'policy'>,
): VersionQuestion | Denial {
  if (policy === null) return question;
  const decision = decideServer(policy, { origin: question.address.origin, db: null });
  return decision.allowed ? question : denyPolicy(decision);
}

function authorize(
  call: DescribedCall,
  policy: NonNullable<Client['policy']>,
  values: ValuesState = 'sent',
): Allowed | Denial {
  const request = describeRequest(call);
  if (request instanceof Denial) return request;
  const checked = values === 'sent' ? request : { ...request, findRelatedWrites: () => NO_RELATED_WRITES };
  const decision = decide(policy, checked);
  if (!decision.allowed) return denyPolicy(decision);
  return { ...decision, approvalRule: decideApproval(policy, checked) };
}

/** `args` are the arguments of the call. */
function setValues(call: Call, args: Arguments, sets: Sets): Call {
  const position = findLimitPosition(call.method);
  const placed = position === null || sets.limit === undefined ? undefined : args.positional[position];
  const named = listNamed(args, call.method, sets);
  return rewriteCall(call, named, placed === undefined ? null : { span: placed, value: String(sets.limit) });
}

/** Lists the named arguments whose value the policy sets. */
function listNamed({ bytes, positional, named }: Arguments, method: string, { limit, ...context }: Sets) {
  const values = new Map<string, Parts>();
  const find = (name: string) => named.find((member) => member.name === name)?.value;
  if (limit !== undefined) {
    const position = findLimitPosition(method);
    const ids = find('ids');
    if (position === null) {
      if (ids?.kind === 'array') values.set('ids', cutList(bytes, ids, limit));
    } else if (positional[position] === undefined || find('limit') !== undefined) {
      values.set('limit', [String(limit)]);
    }
  }
  const defaults = Object.entries(context);
  if (defaults.length > 0) {
    const given = find('context');
    const object = given?.kind === 'object' ? given : null;
    const members = new Map(defaults.map(([name, value]) => [name, [JSON.stringify(value)]]));
    values.set('context', setMembers(object, object ? readMembers(bytes, object) : [], members));
  }
  return values;
}

function cutList(bytes: Uint8Array, list: JsonSpan, count: number): Parts {
  let kept = 0;
  let end = list.start + 1;
  readElements(bytes, list, (element) => {
    end = element.end;
    kept++;
    return kept < count;
  });
  return [{ start: list.start, end }, ']'];
}
