/**
 * The execute call on one page: every step from a call's bytes to Odoo's reply, in order; what comes before and after is the
 * same for every route (request-pipeline.ts). A step gives its output or a `Denial`; only here is it decided what follows.
 */

import { classifyFault } from '../odoo/faults.ts';
import { authorizeCall } from './authorize.ts';
import { callUpstream } from './call.ts';
import type { Deadline } from './deadline.ts';
import { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { limitCall, type MethodCall } from './limit.ts';
import { type Call, parseCall } from './parse.ts';
import { type ContradictionReply, type ReceiveSettings, type Reply, receiveReply } from './receive.ts';
import type { CallTrace } from './record.ts';
import {
  type CallScope,
  deny,
  type Operation,
  type RequestDeps,
  type Run,
  runRequest,
} from './request-pipeline.ts';
import { type ResolveDeps, resolveTarget, type Target } from './resolve.ts';
import type { Attempt } from './retry.ts';
import { allowTime, runUpstream, type UpstreamDeps } from './run-upstream.ts';
import { type ShareDeps, sendNoted, shareRead } from './share-read.ts';
import { type TranslateDeps, translateCall, type UpstreamCall } from './translate.ts';
import { denyFailure } from './upstream-denials.ts';

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
};

/** From a parsed call to Odoo's reply. */
async function runCall(
  parsed: Call,
  scope: CallScope,
  run: Run<ExecuteDeps>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const { deps, dialect } = run;
  const call = authorizeCall(parsed, scope.client);
  if (call instanceof Denial) return deny(call);
  const target = await resolveTarget(call.instance, deps);
  if (target instanceof Denial) return deny(target);
  scope.trace.target = { origin: target.origin, pathPrefix: target.pathPrefix, db: target.db };
  const methodCall = limitCall(call, dialect);
  if (methodCall instanceof Denial) return deny(methodCall);
  const { isReadOnly } = methodCall;
  allowTime(target, run);
  const reply = await shareRead(methodCall, target, scope, run, (own, ownRun) => {
    const sendOnce = () => runMethod(methodCall, target, own.trace, ownRun.deadline, deps);
    const send = () => sendNoted(methodCall, target, deps, sendOnce);
    return runUpstream({ target, isReadOnly, refusedBefore: REFUSED_BEFORE, send }, own, ownRun);
  });
  return { reply, isReadOnly };
}

/** A server that is not what it was taken for turns calls away; each time something is learnt, and there are three ways. */
const WAYS_MAX = 3;

/** Sends the call, and otherwise where the server contradicts what was known of it; a write only where nothing was run. */
async function runMethod(
  call: MethodCall,
  target: Target,
  trace: CallTrace,
  deadline: Deadline,
  deps: ExecuteDeps,
): Promise<Attempt> {
  let last: Attempt | null = null;
  let sent: UpstreamCall | null = null;
  for (let way = 0; way < WAYS_MAX; way++) {
    const upstream = await translateCall(call, target, deadline, deps);
    if (upstream instanceof Denial) return { reply: upstream, met: null };
    if ('fault' in upstream) return { reply: { kind: 'fault', fault: upstream.fault }, met: null };
    if (last !== null && sent !== null && isSameRequest(upstream, sent)) return last;
    sent = upstream;

    const met = await callUpstream(upstream, trace, deadline, deps);
    if (!met.ok) return { reply: denyFailure(met, upstream, deadline), met };
    const received = await receiveReply(met, upstream, deadline, deps.settings);
    if (received instanceof Denial || received.kind !== 'contradiction') return { reply: received, met };
    last = { reply: received.otherwise, met };
    deps.servers.learn(received.about, target, call);
    if (!call.isReadOnly && mayHaveRun(received)) return last;
  }
  return last as Attempt;
}

function mayHaveRun({ otherwise }: ContradictionReply): boolean {
  return otherwise instanceof Denial && otherwise.more.outcome === 'unknown';
}

function isSameRequest(one: UpstreamCall, other: UpstreamCall): boolean {
  const bodies = Buffer.compare(one.request.body ?? EMPTY, other.request.body ?? EMPTY);
  return one.protocol === other.protocol && bodies === 0;
}

const EMPTY = Buffer.alloc(0);

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
