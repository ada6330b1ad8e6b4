/**
 * Sends a method call once, over the protocol that the server speaks. If the server contradicts what was known about it,
 * the call is sent another way.
 */
import { refineFault } from '../../odoo/faults/refine-fault.ts';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { MethodCall, TargetedCall } from '../terms/method-call.ts';
import type { Reply } from '../terms/reply.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import { CHANGED, denyFailure } from '../terms/upstream-denials.ts';
import { type ContradictionReply, type ReceiveSettings, receiveReply } from './receive.ts';
import type { Attempt, Send } from './retry.ts';
import { type SendContext, type SendDeps, sendOnce } from './send-once.ts';
import { type TranslateDeps, translateCall } from './translate.ts';

export interface MethodDeps extends TranslateDeps, SendDeps {
  settings: ReceiveSettings;
}

export type MethodContext = SendContext & Partial<Pick<CallContext, 'trial'>>;

/** A server that is not what it was taken for turns calls away. Each time something is learnt, and there are three ways. */
const WAYS_MAX = 3;

export function sendMethod(deps: MethodDeps): Send<TargetedCall> {
  return (call, context) => runMethod(call, context, deps);
}

/** Sends the call, and again if the server contradicts what was known about it; a write only if nothing was run. */
export async function runMethod(
  call: TargetedCall,
  context: MethodContext,
  deps: MethodDeps,
): Promise<Attempt> {
  const { target } = call;
  const { deadline } = context.time;
  let last: Attempt | null = null;
  let sent: UpstreamCall | null = null;
  for (let way = 0; way < WAYS_MAX; way++) {
    const translated = translateCall(call, target, deadline, deps);
    const upstream = translated instanceof Promise ? await translated : translated;
    if (upstream instanceof Denial) return { reply: upstream, met: null };
    if ('fault' in upstream) return { reply: { kind: 'fault', fault: upstream.fault }, met: null };
    if (last !== null && sent !== null && isSameRequest(upstream, sent)) return last;
    sent = upstream;
    // The call may have waited for what the server speaks.
    if (!(await context.isUnchanged())) return { reply: CHANGED, met: null };
    const met = await sendOnce(upstream, context, deps);
    if (!met.ok) return { reply: denyFailure(met, upstream, deadline), met };
    if (context.trial?.isTrial && upstream.protocol === 'jsonrpc') deps.servers.hear(target, met);
    const received = await receiveReply(met, upstream, deadline, deps.settings);
    if (received instanceof Denial || received.kind !== 'contradiction')
      return { reply: refineReply(received, call), met };
    last = { reply: refineReply(received.otherwise, call), met };
    deps.servers.learn(received.about, target, call);
    if (!call.isReadOnly && mayHaveRun(received)) return last;
  }
  return last as Attempt;
}

/** Odoo's exception does not always tell what is wrong with the arguments. */
function refineReply(reply: Reply, call: MethodCall): Reply {
  if (reply instanceof Denial || reply.kind !== 'fault') return reply;
  return { ...reply, fault: refineFault(reply.fault, call) };
}

function mayHaveRun({ otherwise }: ContradictionReply): boolean {
  return otherwise instanceof Denial && otherwise.more.outcome === 'unknown';
}

function isSameRequest(one: UpstreamCall, other: UpstreamCall): boolean {
  const bodies = Buffer.compare(one.request.body ?? EMPTY, other.request.body ?? EMPTY);
  return one.protocol === other.protocol && bodies === 0;
}

const EMPTY = Buffer.alloc(0);
