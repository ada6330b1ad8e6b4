/** Sends a call once, and reads the answer. */

import type { EgressAnswer, EgressDispatcher, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { MethodCall, TargetedCall, UpstreamCall } from '../terms/method-call.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import { CHANGED, denyFailure } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';
import { PeekedBody } from './peeked-body.ts';
import { type ContradictionReply, denyBrokenAnswer, type ReceiveSettings, receiveReply } from './receive.ts';
import type { Attempt, Send } from './retry.ts';
import { type TranslateDeps, translateCall } from './translate.ts';
import { denyStatus } from './upstream-status.ts';

export interface MethodDeps extends TranslateDeps, SendDeps {
  settings: ReceiveSettings;
}

export type MethodContext = SendContext & Partial<Pick<CallContext, 'credentialCheck'>>;

/** Maximum number of attempts. Each contradiction corrects what is known about the server, and rules out one way. */
const WAYS_MAX = 3;

/**
 * Sends a method call over the protocol that the server speaks. If the server contradicts what was known about it, the
 * call is sent another way.
 */
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
    deps.servers.recordContradiction(received.about, target, call);
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

export interface SendJson2Deps extends SendDeps {
  settings: ReceiveSettings;
}

/**
 * Sends a call of `/json/2` as its caller wrote it, for callers that use this protocol themselves. If the server does
 * not support it, the call is refused, and no other protocol is used.
 */
export function sendJson2(deps: SendJson2Deps): Send<UpstreamCall> {
  return async (call, context) => {
    const { deadline } = context.time;
    const egressResult = await sendOnce(call, context, deps);
    if (!egressResult.ok) return { reply: denyFailure(egressResult, call, deadline), egressResult };
    const { settings } = deps;
    if (egressResult.status !== 200)
      return { reply: await receiveJson2Refusal(egressResult, call, deadline, settings), egressResult };
    const received = await receiveReply(egressResult, call, deadline, settings);
    if (received instanceof Denial || received.kind !== 'contradiction')
      return { reply: received, egressResult };
    return { reply: received.otherwise, egressResult };
  };
}

interface SendDeps {
  egress: EgressDispatcher;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** The part of the call context that sending needs. */
interface SendContext extends Pick<CallContext, 'trace' | 'isUnchanged'> {
  time: Pick<CallContext['time'], 'deadline'>;
  /** Absent: no caller waits for what is sent. */
  request?: { readonly exchange: { readonly requestId: string } };
}

/** Sends a request once, through the egress guard, and waits for the head of the answer. */
async function sendOnce(
  call: UpstreamCall,
  { trace, isUnchanged, time, request }: SendContext,
  { egress, nowMs }: SendDeps,
): Promise<EgressAnswer | EgressFailure> {
  trace.protocol = call.protocol;
  trace.sentMs ??= nowMs();
  trace.attempts++;
  const attempt = trace.traced?.startAttempt(call.request, call.protocol);
  const egressResult = await egress.send(
    passTraceOn(call.request, attempt?.traceparent ?? trace.traceparent),
    { signal: time.deadline.signal, owner: request?.exchange.requestId, isStillWanted: isUnchanged },
  );
  trace.answeredMs = nowMs();
  attempt?.end(egressResult);
  trace.upstreamStatus = egressResult.ok ? egressResult.status : null;
  trace.upstreamDate = (egressResult.ok && egressResult.headers['date']?.toString()) || null;
  return egressResult;
}

/** The caller's header is passed on unchanged if traces are off. */
function passTraceOn(request: EgressRequest, traceparent: string | null): EgressRequest {
  return traceparent === null ? request : { ...request, headers: { ...request.headers, traceparent } };
}

/**
 * Receives an unsuccessful answer of `/json/2` for callers that use this protocol themselves. The status becomes the
 * code of the error, also if a reverse proxy in front of Odoo sent it.
 */
export async function receiveJson2Refusal(
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<Reply> {
  try {
    return await readRefusal(answer, call, deadline.signal, settings);
  } catch (error) {
    return denyBrokenAnswer(error, answer, call, deadline);
  }
}

async function readRefusal(
  answer: EgressAnswer,
  call: UpstreamCall,
  signal: AbortSignal,
  settings: ReceiveSettings,
): Promise<Reply> {
  const { status, headers } = answer;
  const body = await readWhole(answer, settings.answerBytesMax);
  const options = { debug: settings.isDebug, secrets: [call.target.apiKey] };
  const classified = await largeCalls.classifyJson2Answer({ status, headers, body }, options, signal);
  // If a reverse proxy blocks the route with another status, the caller gets that status.
  const isMissing = classified.kind === 'route_missing' && !classified.isBlocked;
  if (isMissing || classified.kind === 'database_hidden') return JSON2_MISSING;
  if (classified.kind === 'fault' || classified.kind === 'signature_differs') {
    const translated = { ...classified.fault, code: status };
    return {
      kind: 'fault',
      fault: await largeCalls.classifyOwnJson2Fault(body, translated, options, signal),
    };
  }
  const { type, message, more } = denyStatus(answer, call);
  return new Denial(type, message, status < 400 ? more : { ...more, passedStatus: status });
}

const JSON2_MISSING = new Denial(
  'json2_missing',
  'The server has no /json/2 (Odoo 18 and older), or shows no such database there. The call was not run.',
);

/** Pages of other programs are truncated, because their status says enough. */
async function readWhole(answer: EgressAnswer, bytesMax: number): Promise<Uint8Array> {
  const peeked = new PeekedBody(answer.body);
  if (!(await peeked.readWhole(bytesMax))) peeked.cancel();
  return await peeked.share();
}
