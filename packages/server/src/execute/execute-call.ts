/**
 * The execute call on one page: every step from a call's bytes to Odoo's reply, in order; what comes before and after is the
 * same for every route (run-request.ts). A step gives its output or a `Denial`; only here is it decided what follows.
 */

import type { Client } from '../keys/keys.ts';
import { classifyFault } from '../odoo/faults/faults.ts';
import { authorizeCall } from './call/authorize.ts';
import { limitCall } from './call/limit.ts';
import { type Call, parseCall } from './call/parse.ts';
import { nameTarget, type ResolveDeps, resolveTarget, type Target } from './call/resolve.ts';
import {
  type CallScope,
  deny,
  type Operation,
  type RequestDeps,
  type Run,
  runRequest,
} from './run-request.ts';
import { Denial } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import { isSameCall, isUnchanged } from './upstream/judge-again.ts';
import type { ReceiveSettings, Reply } from './upstream/receive.ts';
import { allowTime, type Logins, runUpstream, type UpstreamDeps } from './upstream/run-upstream.ts';
import { runMethod } from './upstream/send-method.ts';
import { type ShareDeps, sendNoted, shareRead } from './upstream/share-read.ts';
import type { TranslateDeps } from './upstream/translate.ts';

export interface ExecuteDeps extends RequestDeps, ResolveDeps, UpstreamDeps, TranslateDeps, ShareDeps {
  settings: ReceiveSettings & RequestDeps['settings'];
}

/** Runs one request to the last byte of its answer. Never rejects. */
export function execute(exchange: Exchange, deps: ExecuteDeps, dialect: Dialect): Promise<void> {
  return runRequest(EXECUTE, exchange, deps, dialect);
}

const EXECUTE: Operation<Call, ExecuteDeps> = {
  name: 'execute',
  takesBatch: true,
  read: parseCall,
  run: runCall,
  findLimit(parsed, client) {
    const call = authorizeCall(parsed, client);
    return call instanceof Denial ? null : (call.policyLimit ?? null);
  },
};

/** From a parsed call to Odoo's reply. */
async function runCall(
  parsed: Call,
  scope: CallScope,
  run: Run<ExecuteDeps>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const { deps, dialect } = run;
  const call = authorizeCall(parsed, scope.client);
  scope.trace.policyLimit = (call instanceof Denial ? undefined : call.policyLimit) ?? null;
  if (call instanceof Denial) {
    scope.trace.target = await nameTarget(parsed.instance, deps);
    return deny(call);
  }
  const target = await resolveTarget(call.instance, deps);
  if (target instanceof Denial) return deny(target);
  scope.trace.target = { origin: target.origin, pathPrefix: target.pathPrefix, db: target.db };
  const methodCall = limitCall(call, dialect);
  if (methodCall instanceof Denial) return deny(methodCall);
  const { isReadOnly } = methodCall;
  const isSameFor = (client: Client) => isSameCall(authorizeCall(parsed, client), call);
  scope.isUnchanged = () => isUnchanged({ named: call.instance, target, isSameFor }, scope, run);
  allowTime(target, run);
  const reply = await shareRead(methodCall, target, scope, run, (own, ownRun) => {
    const sendOnce = () => runMethod(methodCall, target, own, ownRun.deadline, deps);
    const send = () => sendNoted(methodCall, target, deps, sendOnce);
    const logins = watchLogins(target, deps);
    return runUpstream({ target, isReadOnly, refusedBefore: REFUSED_BEFORE, logins, send }, own, ownRun);
  });
  return { reply, isReadOnly };
}

/** Without `/jsonrpc` there is no version that locks addresses out. */
function watchLogins(target: Target, { servers, protocolFor }: ExecuteDeps): Logins | null {
  if (protocolFor(target) === 'json2') return null;
  return { lockout: () => servers.findLockout(target), hear: (answer) => servers.hear(target, answer) };
}

/** What Odoo said to the same credentials a moment ago (its own text, in every version). */
const REFUSED_BEFORE: Reply = {
  kind: 'fault',
  fault: classifyFault(
    {
      code: 200,
      message: 'Odoo Server Error',
      data: {
        name: 'odoo.exceptions.AccessDenied',
        message: 'Access Denied',
        arguments: ['Access Denied'],
        context: {},
      },
    },
    { debug: false, secrets: [] },
  ),
};
