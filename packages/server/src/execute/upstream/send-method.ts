/** Runs a method at its server once, over the protocol that the server speaks; another one where it contradicts what was known of it. */
import type { EgressDispatcher } from '../../egress/dispatcher.ts';
import { refineFault } from '../../odoo/faults/refine-fault.ts';
import type { MethodCall } from '../call/limit.ts';
import type { Target } from '../call/resolve.ts';
import type { CallScope } from '../run-request.ts';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import { type ContradictionReply, type ReceiveSettings, type Reply, receiveReply } from './receive.ts';
import type { Attempt } from './retry.ts';
import { callUpstream } from './send-once.ts';
import { type TranslateDeps, translateCall, type UpstreamCall } from './translate.ts';
import { CHANGED, denyFailure } from './upstream-denials.ts';

export interface MethodDeps extends TranslateDeps {
  egress: EgressDispatcher;
  nowMs: () => number;
  settings: ReceiveSettings;
}

/** A server that is not what it was taken for turns calls away; each time something is learnt, and there are three ways. */
const WAYS_MAX = 3;

/** Sends the call, and otherwise where the server contradicts what was known of it; a write only where nothing was run. */
export async function runMethod(
  call: MethodCall,
  target: Target,
  scope: Pick<CallScope, 'trace' | 'isUnchanged'>,
  deadline: Deadline,
  deps: MethodDeps,
): Promise<Attempt> {
  let last: Attempt | null = null;
  let sent: UpstreamCall | null = null;
  for (let way = 0; way < WAYS_MAX; way++) {
    const upstream = await translateCall(call, target, deadline, deps);
    if (upstream instanceof Denial) return { reply: upstream, met: null };
    if ('fault' in upstream) return { reply: { kind: 'fault', fault: upstream.fault }, met: null };
    if (last !== null && sent !== null && isSameRequest(upstream, sent)) return last;
    sent = upstream;
    // What the server speaks may have had to be asked.
    if (!(await scope.isUnchanged())) return { reply: CHANGED, met: null };
    const met = await callUpstream(upstream, scope, deadline, deps);
    if (!met.ok) return { reply: denyFailure(met, upstream, deadline), met };
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
