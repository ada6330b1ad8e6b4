/**
 * What every request to a route that reaches Odoo goes through, whatever it asks for: admission, key and its limits, body
 * and time, then each of its calls from its bytes to its answer and record. What a call does is its `Operation`'s.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMIT_HEADER } from '@erp-proxy/contract';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { IdempotentCall } from '../idempotency/idempotent-call.ts';
import type { Client } from '../keys/keys.ts';
import type { Limits } from '../limits/key-limits.ts';
import type { Events } from '../observe/events.ts';
import type { AnswerHeaders, AnswerWriter } from '../streams/answer-writer.ts';
import { authorizeCaller } from './call/authorize.ts';
import { type Body, type Call, type CallSpan, parseBody, type Read } from './call/parse.ts';
import { type Admission, denyStopping } from './request/admission.ts';
import { answerCall, answerDenial, type Outcome } from './request/answer.ts';
import { type AuthenticateDeps, authenticate, renewClient } from './request/authenticate.ts';
import { runBatch } from './request/batch.ts';
import { NULL_ID } from './request/envelope.ts';
import { recordCall } from './request/record.ts';
import { type Pass, throttle } from './request/throttle.ts';
import { type CallTrace, startTrace } from './terms/call-trace.ts';
import { createDeadline, type Deadline, readTimeoutMs } from './terms/deadline.ts';
import { Denial } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import { judgeEnding, readIdempotencyKey, STORE_WAIT_MS } from './upstream/protect.ts';
import type { Reply } from './upstream/receive.ts';
import { CHANGED } from './upstream/upstream-denials.ts';

export interface RequestDeps extends AuthenticateDeps {
  admission: Admission;
  limits: Limits;
  idempotency: Idempotency;
  events: Events;
  settings: { timeoutMs: number; batchConcurrency: number; answerBytesPerSecondMin: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What one kind of call is: how it is read, and what is done for it. */
export interface Operation<Call, Deps> {
  /** Calls of the same bytes are the same where their operation is. */
  name: string;
  takesBatch: boolean;
  read(bytes: Uint8Array, call: CallSpan, dialect: Dialect): Read<Call>;
  run(call: Call, scope: CallScope, run: Run<Deps>): Promise<{ reply: Reply; isReadOnly: boolean }>;
  /** The limit that the client's policy puts in place of the call's own; null where it does not. */
  findLimit?(call: Call, client: Client): number | null;
}

/** What all calls of one request share. */
export interface Run<Deps> {
  exchange: Exchange;
  /** Null until the key was accepted. */
  client: Client | null;
  /** Null where the key has no limits. */
  pass: Pass | null;
  /** The text of the caller's header; null where there is none. */
  idempotencyKey: string | null;
  /** Calls under way that were sent under a key: their answers are kept for when the caller comes back. */
  outliving: number;
  /** The caller has left, and it goes on for such calls only. */
  hasCallerLeft: boolean;
  deadline: Deadline;
  /** Milliseconds that the caller asked for; null: the default holds. */
  askedTimeoutMs: number | null;
  /** Milliseconds that the calls have, as it stands. */
  allowedMs: number;
  /** When that time is over, by the monotonic clock. */
  dueMs: number;
  isBatch: boolean;
  /** Calls of a batch that have taken their idempotency keys. */
  claimed: Set<IdempotentCall>;
  startedMs: number;
  deps: Deps;
  dialect: Dialect;
}

/** What one call has of its own. */
export interface CallScope {
  /** As of when the call was last judged. */
  client: Client;
  /** Whether the call may still be sent as it was made; to be asked after each wait. */
  isUnchanged: () => Promise<boolean>;
  trace: CallTrace;
  /** Protects the call, once it is known where it goes; null where the caller gave no idempotency key. */
  protect: ((target: string) => IdempotentCall) | null;
  protection: IdempotentCall | null;
  /** How long the call may still wait for the store that protects it. */
  storeWaitMs: number;
  /** It was sent under a key, and goes on when its caller leaves. */
  outlivesCaller: boolean;
  /** Gives back what was taken for the call, when its answer has left or broken off. */
  onDone: (() => void) | null;
}

type AnyCall = { model?: string; method?: string; instance?: Call['instance'] };

/** Runs one request to the last byte of its answer. Never rejects. */
export async function runRequest<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  exchange: Exchange,
  deps: Deps,
  dialect: Dialect,
): Promise<void> {
  const deadline = createDeadline(() => exchange.writer.breakOff());
  const run: Run<Deps> = {
    exchange,
    client: null,
    pass: null,
    idempotencyKey: null,
    outliving: 0,
    hasCallerLeft: false,
    deadline,
    askedTimeoutMs: null,
    allowedMs: deps.settings.timeoutMs,
    dueMs: Number.POSITIVE_INFINITY,
    isBatch: false,
    claimed: new Set(),
    startedMs: deps.nowMs(),
    deps,
    dialect,
  };
  exchange.onCallerLeft(() => {
    run.hasCallerLeft = true;
    endForNobody(run);
  });
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
    run.pass?.leave();
    deps.admission.leave(deadline);
    deps.events.requestEnded();
  }
}

async function runAdmitted<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  run: Run<Deps>,
): Promise<Denial | undefined> {
  const { exchange, deadline, deps, dialect } = run;
  const client = await authenticate(exchange, deps, dialect);
  if (client instanceof Denial) return client;
  run.client = client;
  const stranger = authorizeCaller(client, exchange);
  if (stranger !== null) return stranger;
  const pass = client.policy === null ? null : await throttle(client, deps.limits);
  if (pass instanceof Denial) return pass;
  run.pass = pass;
  const key = readIdempotencyKey(exchange);
  if (key instanceof Denial) return key;
  run.idempotencyKey = key;
  const bytes = await exchange.readBody(deadline.signal);
  if (deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  run.askedTimeoutMs = readTimeoutMs(exchange.header('x-request-timeout'));
  run.allowedMs = run.askedTimeoutMs ?? run.allowedMs;
  run.dueMs = deps.nowMs() + run.allowedMs;
  deadline.startClock(run.allowedMs);
  const body = parseBody(bytes);
  if (body instanceof Denial) return body;
  if (body.isBatch && !operation.takesBatch) return NO_BATCH;
  run.isBatch = body.isBatch;
  const tooMany = await pass?.takeCalls(body.calls.length - 1);
  if (tooMany) return tooMany;
  if (body.isBatch) await runCalls(operation, body, client, run);
  else await runCall(operation, body, 0, exchange.writer, client, run);
  return undefined;
}

async function runCalls<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  body: Body,
  client: Client,
  run: Run<Deps>,
): Promise<void> {
  const { batchConcurrency, answerBytesPerSecondMin } = run.deps.settings;
  const wanted = Math.min(batchConcurrency, body.calls.length);
  const limit = await findBatchLimit(operation, body, client, run);
  await runBatch(
    {
      count: body.calls.length,
      concurrency: (await run.pass?.takeSlots(wanted)) ?? wanted,
      headers: { ...describeRequest(run), ...describeLimit(limit) },
      bytesPerSecondMin: answerBytesPerSecondMin,
    },
    run.exchange.writer,
    (index, writer) => runCall(operation, body, index, writer, client, run),
  );
}

/** As much of a batch is looked at in one turn of the event loop. */
const TURN_BYTES = 64 * 1024;

/** The head leaves before the calls are judged, so they are looked at for this beforehand. All have one policy. */
async function findBatchLimit<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  { bytes, calls }: Body,
  client: Client,
  { dialect }: Run<Deps>,
): Promise<number | null> {
  if (client.policy?.policy.limit_max === undefined) return null;
  let turnBytes = 0;
  for (const call of calls) {
    turnBytes += call.span.end - call.span.start;
    if (turnBytes > TURN_BYTES) {
      await nextTurn();
      turnBytes = 0;
    }
    const limit = findCallLimit(operation.read(bytes, call, dialect).call);
    if (limit !== null) return limit;
  }
  return null;

  function findCallLimit(call: Call | Denial): number | null {
    return call instanceof Denial ? null : (operation.findLimit?.(call, client) ?? null);
  }
}

/** One call, from its bytes to its record. Never rejects: a fault of ours is answered for this call alone. */
async function runCall<Call extends AnyCall, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  body: Body,
  index: number,
  writer: AnswerWriter,
  client: Client,
  run: Run<Deps>,
): Promise<void> {
  const { exchange, deadline, deps, dialect } = run;
  const trace = startTrace(body.isBatch ? deps.nowMs() : run.startedMs);
  const protect = prepareProtection(operation.name, body, index, client, run);
  const scope: CallScope = {
    client,
    isUnchanged: () => Promise.resolve(true),
    trace,
    protect,
    protection: null,
    storeWaitMs: STORE_WAIT_MS,
    outlivesCaller: false,
    onDone: null,
  };
  let read: Read<Call> = { id: NULL_ID, call: INTERNAL };
  let out = writer;
  let outcome: Outcome;
  try {
    read = operation.read(body.bytes, body.calls[index]!, dialect);
    const { call } = read;
    const { reply, isReadOnly } =
      call instanceof Denial ? deny(call) : await runRenewed(operation, call, scope, run);
    const headers = body.isBatch ? {} : describeRequest(run, trace);
    out = scope.protection?.record(writer) ?? writer;
    const context = { id: read.id, writer: out, deadline, isReadOnly, headers, dialect };
    const bytesPerSecondMin = deps.settings.answerBytesPerSecondMin;
    outcome = await answerCall(reply, { ...context, bytesPerSecondMin });
    await scope.protection?.finish(judgeEnding(reply, outcome));
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    outcome = answerInternal(read.id, out, dialect);
    await scope.protection?.finish('unknown');
  } finally {
    scope.onDone?.();
    if (scope.outlivesCaller) run.outliving--;
    endForNobody(run);
  }
  const more = {
    requestId: exchange.requestId,
    keyId: client.key.id,
    address: exchange.address,
    batchIndex: body.isBatch ? index : null,
    endedMs: deps.nowMs(),
  };
  recordCall(deps.events, more, read, trace, outcome);
}

/** Cancels what is left of a request whose caller has left, once no call is under way that goes on without it. */
function endForNobody({ hasCallerLeft, outliving, deadline }: Run<unknown>): void {
  if (hasCallerLeft && outliving === 0) deadline.end('caller_left');
}

/** Runs a call under the key and policy of now: a body may take its time, and a batch its calls. */
async function runRenewed<Call, Deps extends RequestDeps>(
  operation: Operation<Call, Deps>,
  call: Call,
  scope: CallScope,
  run: Run<Deps>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  for (;;) {
    const client = await renewClient(scope.client, run.deps, run.dialect);
    if (client instanceof Denial) return deny(client);
    const stranger = client === scope.client ? null : authorizeCaller(client, run.exchange);
    if (stranger !== null) return deny(stranger);
    scope.client = client;
    const done = await operation.run(call, scope, run);
    if (done.reply !== CHANGED) return done;
    await undoStart(scope, run);
  }
}

/** Gives back what a call has taken that starts over; nothing of it was run, or it was rolled back. */
async function undoStart(scope: CallScope, run: Run<unknown>): Promise<void> {
  scope.onDone?.();
  scope.onDone = null;
  await scope.protection?.finish('not_run');
  scope.protection = null;
  if (!scope.outlivesCaller) return;
  scope.outlivesCaller = false;
  run.outliving--;
  endForNobody(run);
}

/** A call that did not get so far that it is known what it does. */
export function deny(reply: Denial): { reply: Denial; isReadOnly: boolean } {
  return { reply, isReadOnly: false };
}

/** Null where the caller gave no idempotency key. */
function prepareProtection(
  operation: string,
  { bytes, calls }: Body,
  index: number,
  client: Client,
  { idempotencyKey: key, deps }: Run<RequestDeps>,
): CallScope['protect'] {
  if (key === null) return null;
  const { start, end } = calls[index]!.span;
  const call = { clientId: client.key.id, key, index, bytes: bytes.subarray(start, end) };
  return (target) => deps.idempotency.begin({ ...call, operation: `${operation} ${target}` });
}

/** What every answer to a known key says: the time it took, its age where it was kept, and what is left of the key's rate. */
function describeRequest(run: Run<RequestDeps>, trace?: CallTrace): AnswerHeaders {
  const ageMs = trace?.ageMs ?? null;
  return {
    'server-timing': describeTiming(run, trace),
    ...(ageMs === null ? {} : { age: String(Math.floor(ageMs / 1000)) }),
    ...describeLimit(trace?.policyLimit ?? null),
    ...run.pass?.describe(),
  };
}

function describeLimit(limit: number | null): AnswerHeaders {
  return limit === null ? {} : { [LIMIT_HEADER]: String(limit) };
}

/** What Odoo took to the head of its answer, and the rest. */
function describeTiming({ startedMs, deps }: Run<RequestDeps>, trace?: CallTrace): string {
  const endedMs = deps.nowMs();
  const totalMs = endedMs - startedMs;
  if (trace === undefined || trace.sentMs === null) return `proxy;dur=${totalMs.toFixed(1)}`;
  const upstreamMs = (trace.answeredMs ?? endedMs) - trace.sentMs;
  return `upstream;dur=${upstreamMs.toFixed(1)};desc="${trace.protocol}", proxy;dur=${(totalMs - upstreamMs).toFixed(1)}`;
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
  const headers = run.client === null ? {} : describeRequest(run);
  const { type, httpStatus, rule, detail } = answerDenial(denial, {
    id: NULL_ID,
    writer,
    headers,
    dialect: run.dialect,
  });
  run.deps.events.requestRefused({
    requestId,
    keyId: run.client?.key.id ?? null,
    address,
    outcome: type,
    rule: rule ?? null,
    refusedKey: denial.more.refusedKey ?? null,
    httpStatus,
    detail: detail ?? null,
  });
}

function answerInternal(id: Uint8Array, writer: AnswerWriter, dialect: Dialect): Outcome {
  if (writer.restart()) return answerDenial(INTERNAL, { id, writer, headers: {}, dialect });
  writer.breakOff();
  return { type: 'internal', code: null, httpStatus: 200 };
}
