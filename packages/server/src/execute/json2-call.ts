/**
 * A call that names its arguments itself, on one page: it goes to `/json/2` as it is, and so does the answer. For callers
 * who choose the protocol; the execute call (execute-call.ts) chooses it for them.
 */
import type { Client } from '../keys/keys.ts';
import { buildJson2Request } from '../odoo/json2/json2-request.ts';
import { isReadOnlyMethod } from '../odoo/methods.ts';
import { authorizeJson2Call } from './call/authorize.ts';
import { type Json2Call, parseJson2Call } from './call/parse-json2.ts';
import { nameTarget, type ResolveDeps, resolveTarget, type Target } from './call/resolve.ts';
import { type CallScope, type Operation, type RequestDeps, type Run, runRequest } from './run-request.ts';
import { Denial } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import { isSameCall, isUnchanged } from './upstream/judge-again.ts';
import { type ReceiveSettings, type Reply, receiveReply } from './upstream/receive.ts';
import { receiveJson2Refusal } from './upstream/receive-json2-refusal.ts';
import type { Attempt } from './upstream/retry.ts';
import { allowTime, runUpstream, type UpstreamDeps } from './upstream/run-upstream.ts';
import { callUpstream } from './upstream/send-once.ts';
import { type ShareDeps, sendNoted } from './upstream/share-read.ts';
import type { UpstreamCall } from './upstream/translate.ts';
import { denyFailure } from './upstream/upstream-denials.ts';

export interface Json2Deps extends RequestDeps, ResolveDeps, UpstreamDeps, ShareDeps {
  settings: ReceiveSettings & RequestDeps['settings'];
}

/** Runs one request to the last byte of its answer. Never rejects. */
export function executeJson2(exchange: Exchange, deps: Json2Deps, dialect: Dialect): Promise<void> {
  return runRequest(EXECUTE_JSON2, exchange, deps, dialect);
}

const EXECUTE_JSON2: Operation<Json2Call, Json2Deps> = {
  name: 'json2',
  takesBatch: false,
  read: parseJson2Call,
  run: runCall,
};

async function runCall(
  parsed: Json2Call,
  scope: CallScope,
  run: Run<Json2Deps>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const isReadOnly = isReadOnlyMethod(parsed.method, parsed.model);
  const call = authorizeJson2Call(parsed, scope.client);
  scope.trace.policyLimit = (call instanceof Denial ? undefined : call.policyLimit) ?? null;
  if (call instanceof Denial) {
    scope.trace.target = await nameTarget(parsed.instance, run.deps);
    return { reply: call, isReadOnly };
  }
  const target = await resolveTarget(call.instance, run.deps);
  if (target instanceof Denial) return { reply: target, isReadOnly };
  scope.trace.target = { origin: target.origin, pathPrefix: target.pathPrefix, db: target.db };
  const upstream = buildUpstreamCall(call, target, isReadOnly);
  if (upstream instanceof Denial) return { reply: upstream, isReadOnly };
  const isSameFor = (client: Client) => isSameCall(authorizeJson2Call(parsed, client), call);
  scope.isUnchanged = () => isUnchanged({ named: call.instance, target, isSameFor }, scope, run);
  allowTime(target, run);
  const send = () => sendNoted(upstream, target, run.deps, () => sendOnce(upstream, scope, run));
  const reply = await runUpstream(
    { target, isReadOnly, refusedBefore: REFUSED_BEFORE, logins: null, send },
    scope,
    run,
  );
  return { reply, isReadOnly };
}

const EMPTY_KWARGS = Buffer.from('{}');

function buildUpstreamCall(
  { bytes, model, method, kwargs }: Json2Call,
  target: Target,
  isReadOnly: boolean,
): UpstreamCall | Denial {
  const head = buildJson2Request({ ...target, model, method });
  if ('unmappable' in head)
    return new Denial('json2_call_invalid', `The call cannot be sent: ${head.unmappable}.`);
  const body = kwargs.span === null ? EMPTY_KWARGS : bytes.subarray(kwargs.span.start, kwargs.span.end);
  return {
    request: { method: 'POST', origin: target.origin, trust: target.trust, ...head, body },
    protocol: 'json2',
    resultShape: 'same',
    target,
    model,
    method,
    isReadOnly,
  };
}

async function sendOnce(
  upstream: UpstreamCall,
  scope: CallScope,
  { deadline, deps }: Run<Json2Deps>,
): Promise<Attempt> {
  const met = await callUpstream(upstream, scope, deadline, deps);
  if (!met.ok) return { reply: denyFailure(met, upstream, deadline), met };
  const { settings } = deps;
  if (met.status !== 200) return { reply: await receiveJson2Refusal(met, upstream, deadline, settings), met };
  const received = await receiveReply(met, upstream, deadline, settings);
  if (received instanceof Denial || received.kind !== 'contradiction') return { reply: received, met };
  return { reply: received.otherwise, met };
}

/** What Odoo said to the same key a moment ago. */
const REFUSED_BEFORE: Reply = {
  kind: 'fault',
  fault: {
    code: 401,
    message: 'Invalid apikey',
    data: {
      type: 'access_denied',
      retryable: false,
      name: 'werkzeug.exceptions.Unauthorized',
      message: 'Invalid apikey',
      arguments: ['Invalid apikey', 401],
      context: {},
      status: 401,
    },
  },
};
