/**
 * The execute call on one page: every step from a request to its answer, in order. A step gives its output or a
 * `Denial`; only here is it decided what follows.
 */

import type { EgressDispatcher } from '../egress/dispatcher.ts';
import type { Events } from '../observe/events.ts';
import { classifyFault } from '../odoo/faults.ts';
import type { KeyRecord } from '../stores/ports.ts';
import { type Admission, denyStopping } from './admit.ts';
import { answerCall, answerDenial, type Outcome } from './answer.ts';
import { type AuthenticateDeps, authenticate } from './authenticate.ts';
import { runBatch } from './batch.ts';
import { callUpstream } from './call.ts';
import type { CredentialMemory, Verdict } from './credential-memory.ts';
import { createDeadline, type Deadline, readTimeoutMs } from './deadline.ts';
import { Denial } from './denial.ts';
import { NULL_ID } from './envelope.ts';
import type { AnswerHeaders, AnswerWriter, Exchange } from './exchange.ts';
import { limitCall, type MethodCall } from './limit.ts';
import { type Body, parseBody, parseCall, type ReadCall } from './parse.ts';
import { type ReceiveSettings, type Reply, receiveReply } from './receive.ts';
import { type CallTrace, recordCall } from './record.ts';
import { resolveTarget, type Target } from './resolve.ts';
import { type TranslateDeps, translateCall } from './translate.ts';

export interface ExecuteDeps extends AuthenticateDeps, TranslateDeps {
  admission: Admission;
  egress: EgressDispatcher;
  credentials: CredentialMemory;
  events: Events;
  settings: ReceiveSettings & { timeoutMs: number; batchConcurrency: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What all calls of one request share. */
interface Run {
  exchange: Exchange;
  /** Null until the key was accepted. */
  key: KeyRecord | null;
  deadline: Deadline;
  startedMs: number;
  deps: ExecuteDeps;
}

/** Runs one request to the last byte of its answer. Never rejects. */
export async function execute(exchange: Exchange, deps: ExecuteDeps): Promise<void> {
  const deadline = createDeadline(() => exchange.writer.breakOff());
  const run: Run = { exchange, key: null, deadline, startedMs: deps.nowMs(), deps };
  exchange.onCallerLeft(() => deadline.end('caller_left'));
  deps.events.requestStarted();
  try {
    const refusal = deps.admission.enter(deadline) ?? (await executeAdmitted(run));
    if (refusal instanceof Denial) refuse(refusal, run);
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    if (exchange.writer.restart()) refuse(INTERNAL, run);
    else exchange.writer.breakOff();
  } finally {
    await exchange.waitUntilLeft();
    deadline.clear();
    deps.admission.leave(deadline);
    deps.events.requestEnded();
  }
}

async function executeAdmitted(run: Run): Promise<Denial | undefined> {
  const { exchange, deadline, deps } = run;
  const key = await authenticate(exchange, deps);
  if (key instanceof Denial) return key;
  run.key = key;
  const bytes = await exchange.readBody(deadline.signal);
  if (deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  deadline.startClock(readTimeoutMs(exchange.header('x-request-timeout'), deps.settings.timeoutMs));
  const body = parseBody(bytes);
  if (body instanceof Denial) return body;
  if (body.isBatch) await executeBatch(body, run);
  else await executeCall(body, 0, exchange.writer, run);
  return undefined;
}

async function executeBatch(body: Body, run: Run): Promise<void> {
  const { batchConcurrency } = run.deps.settings;
  await runBatch(
    body.calls.length,
    batchConcurrency,
    describeTiming(run),
    run.exchange.writer,
    (index, writer) => executeCall(body, index, writer, run),
  );
}

/** One call, from its bytes to its record. Never rejects: a fault of ours is answered for this call alone. */
async function executeCall(body: Body, index: number, writer: AnswerWriter, run: Run): Promise<void> {
  const { exchange, key, deadline, deps } = run;
  const trace: CallTrace = {
    startedMs: body.isBatch ? deps.nowMs() : run.startedMs,
    sentMs: null,
    answeredMs: null,
    attempts: 0,
    upstreamStatus: null,
    target: null,
    protocol: null,
  };
  let read: ReadCall = { id: NULL_ID, call: INTERNAL };
  let outcome: Outcome;
  try {
    read = parseCall(body.bytes, body.calls[index]!);
    const { reply, isReadOnly } = await runCall(read, trace, deadline, deps);
    const headers = body.isBatch ? {} : describeTiming(run, trace);
    outcome = await answerCall(reply, { id: read.id, writer, deadline, isReadOnly, headers });
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    outcome = answerInternal(read.id, writer);
  }
  const more = {
    requestId: exchange.requestId,
    keyId: key?.id ?? null,
    batchIndex: body.isBatch ? index : null,
    endedMs: deps.nowMs(),
  };
  recordCall(deps.events, more, read, trace, outcome);
}

/** From a parsed call to Odoo's reply. */
async function runCall(
  read: ReadCall,
  trace: CallTrace,
  deadline: Deadline,
  deps: ExecuteDeps,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const deny = (reply: Denial) => ({ reply, isReadOnly: false });
  const { call } = read;
  if (call instanceof Denial) return deny(call);
  const target = resolveTarget(call, deps.egress);
  if (target instanceof Denial) return deny(target);
  trace.target = target;
  const methodCall = limitCall(call);
  if (methodCall instanceof Denial) return deny(methodCall);
  const { isReadOnly } = methodCall;

  const ticket = await deps.credentials.check(target.credentialsId, deadline.signal);
  if (ticket === 'refused') return { reply: REFUSED_BEFORE, isReadOnly };
  let reply: Reply | undefined;
  try {
    reply = await runMethod(methodCall, target, trace, deadline, deps);
    return { reply, isReadOnly };
  } finally {
    ticket.settle(judgeCredentials(reply));
  }
}

/** A server that is not what it was taken for turns calls away; each time something is learnt, and there are three ways. */
const WAYS_MAX = 3;

/** Sends the call, over another protocol where the server contradicts what was known of it: then nothing was run. */
async function runMethod(
  call: MethodCall,
  target: Target,
  trace: CallTrace,
  deadline: Deadline,
  deps: ExecuteDeps,
): Promise<Reply> {
  let otherwise: Reply | null = null;
  for (let way = 0; way < WAYS_MAX; way++) {
    const before = trace.protocol;
    const upstream = await translateCall(call, target, deadline, deps);
    if (upstream instanceof Denial) return otherwise ?? upstream;
    if ('fault' in upstream) return { kind: 'fault', fault: upstream.fault };
    if (otherwise !== null && upstream.protocol === before) return otherwise;

    trace.protocol = upstream.protocol;
    trace.sentMs ??= deps.nowMs();
    const { answer, attempts } = await callUpstream(upstream, deadline, deps.egress);
    trace.answeredMs = deps.nowMs();
    trace.attempts += attempts;
    if (answer instanceof Denial) return answer;
    trace.upstreamStatus = answer.status;
    const received = await receiveReply(answer, upstream, deadline, deps.settings);
    if (received instanceof Denial || received.kind !== 'contradiction') return received;
    otherwise = received.otherwise;
    deps.servers.learn(received.about, target, call);
  }
  return otherwise as Reply;
}

/** What a reply says about the credentials: only what Odoo did after checking them speaks for them. */
function judgeCredentials(reply: Reply | undefined): Verdict {
  if (reply === undefined || reply instanceof Denial) return 'unknown';
  if (reply.kind === 'result') return 'accepted';
  if (reply.fault.data.type === 'access_denied') return 'refused';
  return reply.fault.data.type === 'access_error' ? 'accepted' : 'unknown';
}

/** `server-timing`: what Odoo took to the head of its answer, and the rest. */
function describeTiming({ startedMs, deps }: Run, trace?: CallTrace): AnswerHeaders {
  const endedMs = deps.nowMs();
  const totalMs = endedMs - startedMs;
  if (trace === undefined || trace.sentMs === null)
    return { 'server-timing': `proxy;dur=${totalMs.toFixed(1)}` };
  const upstreamMs = (trace.answeredMs ?? endedMs) - trace.sentMs;
  return {
    'server-timing': `upstream;dur=${upstreamMs.toFixed(1)};desc="${trace.protocol}", proxy;dur=${(totalMs - upstreamMs).toFixed(1)}`,
  };
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

const INTERNAL = new Denial(
  'internal',
  'The proxy failed; tell its operator the x-request-id of this answer. Odoo may have run the call.',
);

/** Answers a request that was refused as a whole. */
function refuse(denial: Denial, run: Run): void {
  const { requestId, address, writer } = run.exchange;
  // Who has no key is not told how long the look at it took.
  const answer = { id: NULL_ID, writer, headers: run.key === null ? {} : describeTiming(run) };
  const { type, httpStatus, detail } = answerDenial(denial, answer);
  run.deps.events.requestRefused({
    requestId,
    keyId: run.key?.id ?? null,
    address,
    outcome: type,
    httpStatus,
    detail: detail ?? null,
  });
}

function answerInternal(id: Uint8Array, writer: AnswerWriter): Outcome {
  if (writer.restart()) return answerDenial(INTERNAL, { id, writer, headers: {} });
  writer.breakOff();
  return { type: 'internal', code: null, httpStatus: 200 };
}
