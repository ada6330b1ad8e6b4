/**
 * Step: applies the client's policy to a call. It allows or denies the call, and sets values in it. All other bytes
 * stay those of the caller.
 */

import { joinParts } from '../../json/edit.ts';
import { readElements } from '../../json/elements.ts';
import { readMembers } from '../../json/members.ts';
import { setMembers } from '../../json/set-members.ts';
import { skipValue } from '../../json/skip.ts';
import type { ByteRange, JsonSpan } from '../../json/span.ts';
import type { Client } from '../../keys/keys.ts';
import type { Arguments } from '../../odoo/arguments.ts';
import { findLimitPosition } from '../../odoo/record-count.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import {
  type Decision,
  type DeniedDecision,
  decide,
  decideApproval,
  decideCaller,
  decideServer,
} from '../../policy/decide.ts';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';
import type { AnyParsed } from '../terms/operation.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import type { VersionQuestion } from './parse-version-question.ts';
import { type DescribedCall, describeCall, describeRequest } from './policy-request.ts';

type Sets = Extract<Decision, { allowed: true }>['sets'];
type Parts = readonly (ByteRange | string)[];

/** Checks whether the key may be used from this address and web origin, before all other rules. Returns null if so. */
export function authorizeCaller(
  { policy }: Pick<Client, 'policy'>,
  exchange: Pick<Exchange, 'address' | 'header'>,
): Denial | null {
  const browserOrigin = exchange.header('origin') ?? null;
  const denied = decideCaller(policy, { address: exchange.address, browserOrigin });
  return denied && denyPolicy(denied);
}

export function authorizeCall(call: Call, { policy }: Pick<Client, 'policy'>): Call | Denial {
  if (policy === null) return call;
  const described = describeCall(call);
  const sets = authorize(described, policy);
  if (sets instanceof Denial) return sets;
  // `read` takes no limit in Odoo, so call/limit.ts applies this one.
  return {
    ...rewrite(call, described.args, sets),
    limit: sets.limit ?? call.limit,
    ...noteLimit(sets),
    ...noteApproval(call, policy),
  };
}

function noteApproval(call: AnyParsed, policy: CompiledPolicy): Pick<AnyParsed, 'approvalRule'> {
  const { model = '', method = '' } = call;
  const approvalRule = decideApproval(policy, { model, method });
  return approvalRule === null ? {} : { approvalRule };
}

function noteLimit({ limit }: Sets): { policyLimit?: number } {
  return limit === undefined ? {} : { policyLimit: limit };
}

/** The same for a call of `/json/2`, whose arguments have names. */
export function authorizeJson2Call(call: Json2Call, { policy }: Pick<Client, 'policy'>): Json2Call | Denial {
  if (policy === null) return call;
  const { model, method, instance, kwargs } = call;
  const args = { bytes: call.bytes, positional: [], named: kwargs.members };
  const sets = authorize({ model, method, instance, args, limit: null }, policy);
  if (sets instanceof Denial) return sets;
  const noted = { ...noteLimit(sets), ...noteApproval(call, policy) };
  const values = listNamed(args, method, sets);
  if (values.size === 0) return { ...call, ...noted };
  const bytes = joinParts(call.bytes, setMembers(kwargs.span, kwargs.members, values));
  const span: JsonSpan = { kind: 'object', start: 0, end: bytes.length };
  return { ...call, bytes, kwargs: { span, members: readMembers(bytes, span) }, ...noted };
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

function authorize(call: DescribedCall, policy: NonNullable<Client['policy']>): Sets | Denial {
  const request = describeRequest(call);
  if (request instanceof Denial) return request;
  const decision = decide(policy, request);
  return decision.allowed ? decision.sets : denyPolicy(decision);
}

function denyPolicy({ rule, message }: DeniedDecision): Denial {
  return new Denial('policy_denied', message, { rule });
}

/** Builds the call with new bytes, in which `keyword` comes before `params`. */
function rewrite(call: Call, args: Arguments, sets: Sets): Call {
  const position = findLimitPosition(call.method);
  const placed = position === null || sets.limit === undefined ? undefined : args.positional[position];
  const values = listNamed(args, call.method, sets);
  if (placed === undefined && values.size === 0) return call;
  const { params, keyword } = call;
  const parts = [
    ...setMembers(keyword.span, keyword.members, values),
    ...(params ? setRange(params, placed, sets) : []),
  ];
  const bytes = joinParts(call.bytes, parts);
  const span: JsonSpan = { kind: 'object', start: 0, end: skipValue(bytes, 0) };
  return {
    ...call,
    bytes,
    keyword: { span, members: readMembers(bytes, span) },
    params: params && { kind: 'array', start: span.end, end: bytes.length },
  };
}

function setRange(array: JsonSpan, element: JsonSpan | undefined, { limit }: Sets): Parts {
  if (element === undefined) return [array];
  return [{ start: array.start, end: element.start }, String(limit), { start: element.end, end: array.end }];
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
