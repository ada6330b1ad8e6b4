/**
 * What every request to a route that reaches Odoo goes through, whatever it asks for: admission, key, body and time, then
 * each of its calls from its bytes to its answer and record. What a call does is its `Operation`'s.
 */

import type { Events } from '../observe/events.ts';
import type { KeyRecord } from '../stores/ports.ts';
import { type Admission, denyStopping } from './admit.ts';
import { answerCall, answerDenial, type Outcome } from './answer.ts';
import { type AuthenticateDeps, authenticate } from './authenticate.ts';
import { runBatch } from './batch.ts';
import { createDeadline, type Deadline, readTimeoutMs } from './deadline.ts';
import { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import { NULL_ID } from './envelope.ts';
import type { AnswerHeaders, AnswerWriter, Exchange } from './exchange.ts';
import { type Body, type CallSpan, parseBody, type Read } from './parse.ts';
import type { Reply } from './receive.ts';
import { type CallTrace, recordCall } from './record.ts';

export interface RequestDeps extends AuthenticateDeps {
  admission: Admission;
  events: Events;
  settings: { timeoutMs: number; batchConcurrency: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What one kind of call is: how it is read, and what is done for it. */
export interface Operation<Call, Deps> {
  takesBatch: boolean;
  read(bytes: Uint8Array, call: CallSpan, dialect: Dialect): Read<Call>;
  run(call: Call, trace: CallTrace, run: Run<Deps>): Promise<{ reply: Reply; isReadOnly: boolean }>;
}

/** What all calls of one request share. */
export interface Run<Deps> {
  exchange: Exchange;
  /** Null until the key was accepted. */
  key: KeyRecord | null;
  deadline: Deadline;
  startedMs: number;
  deps: Deps;
  dialect: Dialect;
}

type AnyCall = { model?: string; method?: string };

/** Runs one request to the last byte of its answer. Never rejects. */
export async function runRequest<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  exchange: Exchange,
  deps: Deps,
  dialect: Dialect,
): Promise<void> {
  const deadline = createDeadline(() => exchange.writer.breakOff());
  const run: Run<Deps> = { exchange, key: null, deadline, startedMs: deps.nowMs(), deps, dialect };
  exchange.onCallerLeft(() => deadline.end('caller_left'));
  deps.events.requestStarted();
  try {
    const refusal = deps.admission.enter(deadline) ?? (await runAdmitted(operation, run));
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

async function runAdmitted<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  run: Run<Deps>,
): Promise<Denial | undefined> {
  const { exchange, deadline, deps, dialect } = run;
  const key = await authenticate(exchange, deps, dialect);
  if (key instanceof Denial) return key;
  run.key = key;
  const bytes = await exchange.readBody(deadline.signal);
  if (deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  deadline.startClock(readTimeoutMs(exchange.header('x-request-timeout'), deps.settings.timeoutMs));
  const body = parseBody(bytes);
  if (body instanceof Denial) return body;
  if (body.isBatch && !operation.takesBatch) return NO_BATCH;
  if (body.isBatch) await runCalls(operation, body, run);
  else await runCall(operation, body, 0, exchange.writer, run);
  return undefined;
}

async function runCalls<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  body: Body,
  run: Run<Deps>,
): Promise<void> {
  const { batchConcurrency } = run.deps.settings;
  await runBatch(
    body.calls.length,
    batchConcurrency,
    describeTiming(run),
    run.exchange.writer,
    (index, writer) => runCall(operation, body, index, writer, run),
  );
}

/** One call, from its bytes to its record. Never rejects: a fault of ours is answered for this call alone. */
async function runCall<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  body: Body,
  index: number,
  writer: AnswerWriter,
  run: Run<Deps>,
): Promise<void> {
  const { exchange, key, deadline, deps, dialect } = run;
  const trace: CallTrace = {
    startedMs: body.isBatch ? deps.nowMs() : run.startedMs,
    sentMs: null,
    answeredMs: null,
    attempts: 0,
    upstreamStatus: null,
    target: null,
    protocol: null,
  };
  let read: Read<Call> = { id: NULL_ID, call: INTERNAL };
  let outcome: Outcome;
  try {
    read = operation.read(body.bytes, body.calls[index]!, dialect);
    const { call } = read;
    const { reply, isReadOnly } =
      call instanceof Denial ? { reply: call, isReadOnly: false } : await operation.run(call, trace, run);
    const headers = body.isBatch ? {} : describeTiming(run, trace);
    outcome = await answerCall(reply, { id: read.id, writer, deadline, isReadOnly, headers, dialect });
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    outcome = answerInternal(read.id, writer, dialect);
  }
  const more = {
    requestId: exchange.requestId,
    keyId: key?.id ?? null,
    batchIndex: body.isBatch ? index : null,
    endedMs: deps.nowMs(),
  };
  recordCall(deps.events, more, read, trace, outcome);
}

/** `server-timing`: what Odoo took to the head of its answer, and the rest. */
function describeTiming({ startedMs, deps }: Run<RequestDeps>, trace?: CallTrace): AnswerHeaders {
  const endedMs = deps.nowMs();
  const totalMs = endedMs - startedMs;
  if (trace === undefined || trace.sentMs === null)
    return { 'server-timing': `proxy;dur=${totalMs.toFixed(1)}` };
  const upstreamMs = (trace.answeredMs ?? endedMs) - trace.sentMs;
  return {
    'server-timing': `upstream;dur=${upstreamMs.toFixed(1)};desc="${trace.protocol}", proxy;dur=${(totalMs - upstreamMs).toFixed(1)}`,
  };
}

const INTERNAL = new Denial(
  'internal',
  'The proxy failed; tell its operator the x-request-id of this answer. Odoo may have run the call.',
);

const NO_BATCH = new Denial('invalid_request', 'This route takes one object, not an array of them.');

/** Answers a request that was refused as a whole. */
function refuse(denial: Denial, run: Run<RequestDeps>): void {
  const { requestId, address, writer } = run.exchange;
  // Who has no key is not told how long the look at it took.
  const headers = run.key === null ? {} : describeTiming(run);
  const { type, httpStatus, detail } = answerDenial(denial, {
    id: NULL_ID,
    writer,
    headers,
    dialect: run.dialect,
  });
  run.deps.events.requestRefused({
    requestId,
    keyId: run.key?.id ?? null,
    address,
    outcome: type,
    httpStatus,
    detail: detail ?? null,
  });
}

function answerInternal(id: Uint8Array, writer: AnswerWriter, dialect: Dialect): Outcome {
  if (writer.restart()) return answerDenial(INTERNAL, { id, writer, headers: {}, dialect });
  writer.breakOff();
  return { type: 'internal', code: null, httpStatus: 200 };
}
