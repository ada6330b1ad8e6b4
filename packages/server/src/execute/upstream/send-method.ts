/**
 * Sends a method call once, over the protocol that the server speaks. If the server contradicts what was known about
 * it, the call is sent another way.
 */
import type { CallContext } from '../terms/call-context.ts';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import type { MethodCall, TargetedCall } from '../terms/method-call.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { UpstreamCall } from '../terms/upstream-call.ts';
import { CHANGED, denyFailure } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';
import { type ContradictionReply, type ReceiveSettings, receiveReply } from './receive.ts';
import type { Attempt, Send } from './retry.ts';
import { type SendContext, type SendDeps, sendOnce } from './send-once.ts';
import { type TranslateDeps, translateCall } from './translate.ts';

export interface MethodDeps extends TranslateDeps, SendDeps {
  settings: ReceiveSettings;
}

export type MethodContext = SendContext & Partial<Pick<CallContext, 'credentialCheck'>>;

/** Maximum number of attempts. Each contradiction corrects what is known about the server, and rules out one way. */
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
    const upstream = await translateCall(call, target, deadline, deps);
    if (upstream instanceof Denial) return { reply: upstream, egressResult: null };
    if ('fault' in upstream) return { reply: { kind: 'fault', fault: upstream.fault }, egressResult: null };
    if (last !== null && sent !== null && isSameRequest(upstream, sent)) return last;
    sent = upstream;
    // The call may have waited for facts about the server, or for the answer that contradicted them.
    if (!(await context.isUnchanged())) return { reply: CHANGED, egressResult: null };
    const egressResult = await sendOnce(upstream, context, deps);
    if (!egressResult.ok) return { reply: denyFailure(egressResult, upstream, deadline), egressResult };
    if (context.credentialCheck?.isTrial && upstream.protocol === 'jsonrpc')
      deps.servers.learnLockout(target, egressResult);
    const received = await receiveReply(egressResult, upstream, deadline, deps.settings);
    if (received instanceof Denial || received.kind !== 'contradiction')
      return { reply: isFault(received) ? await refine(received, call, deadline) : received, egressResult };
    const { otherwise } = received;
    last = { reply: isFault(otherwise) ? await refine(otherwise, call, deadline) : otherwise, egressResult };
    deps.servers.noteContradiction(received.about, target, call);
    if (!call.isReadOnly && mayHaveRun(received)) return last;
  }
  return last as Attempt;
}

function isFault(reply: Reply): reply is FaultReply {
  return 'kind' in reply && reply.kind === 'fault';
}

/** Makes the fault more precise: Odoo's exception does not always tell what is wrong with the arguments. */
async function refine(reply: FaultReply, call: MethodCall, { signal }: Deadline): Promise<FaultReply> {
  try {
    return { ...reply, fault: await largeCalls.refineFault(reply.fault, call, signal) };
  } catch (error) {
    if (error instanceof TaskAborted) return reply;
    throw error;
  }
}

function mayHaveRun({ otherwise }: ContradictionReply): boolean {
  return otherwise instanceof Denial && otherwise.more.outcome === 'unknown';
}

function isSameRequest(one: UpstreamCall, other: UpstreamCall): boolean {
  const bodies = Buffer.compare(one.request.body ?? EMPTY, other.request.body ?? EMPTY);
  return one.protocol === other.protocol && bodies === 0;
}

const EMPTY = Buffer.alloc(0);
