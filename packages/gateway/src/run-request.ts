/**
 * What every request for a call passes through, whatever its operation and whoever asks: admission, key and limits,
 * body and time. Then each of its calls runs (run-call.ts). The calls are in its body, or are made while it is answered
 * (create-runner.ts).
 */
import type { AnswerWriter } from '@erp-proxy/async/streams';
import { authorizeCaller, authorizeData } from './call/authorize.ts';
import { createRunner, type RunnerDeps } from './create-runner.ts';
import { type Admission, denyStopping } from './request/admission.ts';
import { type AuthenticateDeps, authenticate } from './request/authenticate.ts';
import { runBatch } from './request/batch.ts';
import { describeBatch, describeRequest } from './request/envelope.ts';
import { type RefuseDeps, refuse } from './request/refuse.ts';
import {
  prefersNormalized,
  readApprovalIds,
  readAsyncPreference,
  readIdempotencyKey,
} from './request/request-headers.ts';
import { startTraced } from './request/start-traced.ts';
import { type AdmitDataDeps, admitData, type ThrottleDeps, throttle } from './request/throttle.ts';
import { type RunCallDeps, runCall } from './run-call.ts';
import { type CallContext, startCall, traceCall } from './terms/call-context.ts';
import type { CallRunner } from './terms/call-runner.ts';
import { Denial, INTERNAL } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import type { Operation } from './terms/operation.ts';
import type { Request, Source } from './terms/request.ts';
import { RequestTime, readTimeoutMs, TIMEOUT_MS_MAX } from './terms/request-time.ts';
import { denyEndedUnsent } from './terms/upstream-denials.ts';
import * as largeCalls from './thread/large-calls.ts';
import { TaskAborted } from './thread/run-in-thread.ts';

export interface RunRequestDeps
  extends AuthenticateDeps,
    AdmitDataDeps,
    ThrottleDeps,
    RefuseDeps,
    RunnerDeps,
    RunCallDeps {
  events: RunCallDeps['events'];
  admission: Admission;
  settings: RunCallDeps['settings'] & { timeoutMs: number; batchConcurrency: number };
}

export interface AskedRequest<Result> {
  source: Source;
  exchange: Exchange;
  dialect: Dialect;
  /**
   * Makes the calls and answers the request, or returns why the request is refused as a whole. {@link runRequest}
   * returns its result. Absent: the calls are in the body.
   */
  answer?: (runner: CallRunner) => Promise<Denial | Result>;
}

/**
 * Runs a request to the last byte of its answer. Returns why it was refused as a whole, or the result of `answer`.
 * Rejects only for a request in the background whose `answer` rejects.
 */
export async function runRequest<Result = null>(
  operation: Operation,
  asked: AskedRequest<Result>,
  deps: RunRequestDeps,
): Promise<Denial | Result> {
  const request = startRequest(operation, asked, deps);
  const { exchange, time, held } = request;
  const isAnswered = request.source.by !== 'background';
  exchange.onCallerLeft(() => time.callerLeft());
  if (isAnswered) {
    deps.events.requestStarted();
    held.defer(() => deps.events.requestEnded());
  }
  try {
    const outcome = (await receive(request, deps)) ?? (await runCalls(operation, request, asked, deps));
    if (outcome instanceof Denial && isAnswered) refuse(outcome, request, deps);
    return outcome;
  } catch (error) {
    if (!isAnswered) throw error;
    return breakDown(error, request, deps);
  } finally {
    exchange.releaseBody();
    await exchange.waitUntilLeft();
    held.dispose();
  }
}

function startRequest(
  { isAddressInBody }: Operation,
  { source, exchange, dialect }: AskedRequest<unknown>,
  { nowMs, settings }: RunRequestDeps,
): Request {
  const cutOff = () => exchange.writer.breakOff();
  const time = new RequestTime({ nowMs, defaultMs: settings.timeoutMs, cutOff });
  const held = new DisposableStack();
  held.defer(() => time.deadline.clear());
  const made = 'via' in source ? source : null;
  const actor = source.by === 'administrator' ? source.actor : null;
  return {
    source,
    exchange,
    dialect: isAddressInBody ? { ...dialect, instanceAt: '' } : dialect,
    time,
    startedMs: nowMs(),
    made,
    via: made?.via ?? (actor === null ? null : 'console'),
    actor,
    held,
    client: null,
    keyAdmission: null,
    idempotencyKey: null,
    approvalIds: [],
    bytes: NO_BYTES,
    isBatch: false,
    traceparent: null,
    traced: null,
  };
}

const NO_BYTES = Buffer.alloc(0);

/** The steps until the body has arrived. */
async function receive(request: Request, deps: RunRequestDeps): Promise<Denial | null> {
  const { source, exchange, dialect, made } = request;
  const stopping = admit(request, deps);
  if (stopping !== null) return stopping;
  const client = 'client' in source ? source.client : await authenticate(exchange, deps, dialect);
  if (client instanceof Denial) return client;
  request.client = client;
  return (
    authorizeCaller(client, exchange) ??
    authorizeData(client, made?.data ?? null) ??
    admitData(request, client, deps) ??
    (await throttle(request, client, deps)) ??
    readHeaders(request) ??
    (await readBody(request))
  );
}

function admit({ time, held }: Request, { admission }: RunRequestDeps): Denial | null {
  const denied = admission.enter(time.deadline);
  if (denied === null) held.defer(() => admission.leave(time.deadline));
  return denied;
}

function readHeaders(request: Request): Denial | null {
  const idempotencyKey = readIdempotencyKey(request.exchange);
  if (idempotencyKey instanceof Denial) return idempotencyKey;
  const approvalIds = readApprovalIds(request.exchange);
  if (approvalIds instanceof Denial) return approvalIds;
  Object.assign(request, { idempotencyKey, approvalIds });
  return null;
}

/** The clock starts at the end of the body. */
async function readBody(request: Request): Promise<Denial | null> {
  const { exchange, time, made } = request;
  const kind = made?.body;
  const bytes = kind === 'none' ? NO_BYTES : await exchange.readBody(time.signal, kind);
  if (time.deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  request.bytes = bytes;
  time.start(made?.timeoutMs ?? readTimeoutMs(exchange.header('x-request-timeout')));
  if (made?.hasParts === true) time.allow(TIMEOUT_MS_MAX, true);
  return null;
}

/** Runs the calls of a request whose key and limits were checked, and answers it. */
async function runCalls<Result>(
  operation: Operation,
  request: Request,
  { answer }: AskedRequest<Result>,
  deps: RunRequestDeps,
): Promise<Denial | Result> {
  if (answer !== undefined) return await answer(createRunner(operation, request, deps));
  // Without `answer` there is no result.
  return (await runBody(operation, request, deps)) as Denial | Result;
}

/** Runs the calls of the body. */
async function runBody(operation: Operation, request: Request, deps: RunRequestDeps): Promise<Denial | null> {
  const { exchange, dialect, time, source, keyAdmission } = request;
  const body = await largeCalls.parseBody(request.bytes, time.signal);
  if (body instanceof Denial) return body;
  const { calls, isBatch } = body;
  if (isBatch && !(operation.takesBatch && source.by === 'client')) return NO_BATCH;
  const tooMany = isBatch ? await keyAdmission?.admitCalls(calls.length - 1) : null;
  if (tooMany) return tooMany;
  request.isBatch = isBatch;
  startTraced(isBatch ? 'batch' : null, request, deps);
  const { idempotencyKey, approvalIds } = request;
  const areValuesNormalized = dialect.takesPreferences && prefersNormalized(exchange);
  const mayDefer = dialect.takesPreferences && !isBatch && source.by === 'client';
  const preference = mayDefer ? readAsyncPreference(exchange) : null;
  const deferral = preference && { ...preference, route: operation.name, bytes: null };
  const terms = {
    idempotencyKey,
    approvalIds,
    confirmation: null,
    areValuesNormalized,
    data: null,
    deferral,
  };
  const run = (index: number, writer: AnswerWriter, describe: CallContext['describe']) => {
    const trace = traceCall(request, deps.nowMs(), request.traceparent);
    const place = { request, client: request.client!, index, body: body.bytes, span: calls[index]!, trace };
    return runCall(operation, startCall({ ...place, writer, describe }, terms), deps);
  };
  if (!isBatch) await run(0, exchange.writer, (trace) => describeRequest(request, deps.nowMs(), trace));
  else {
    const wanted = Math.min(deps.settings.batchConcurrency, calls.length);
    const headers = await describeBatch(operation, body, request, areValuesNormalized);
    const options = {
      count: calls.length,
      concurrency: (await keyAdmission?.acquireConcurrency(wanted)) ?? wanted,
      headers: { ...describeRequest(request, deps.nowMs()), ...headers },
      bytesPerSecondMin: deps.settings.answerBytesPerSecondMin,
    };
    await runBatch(options, exchange.writer, (index, writer) => run(index, writer, () => ({})));
  }
  return null;
}

const NO_BATCH = new Denial('invalid_request', 'This route takes one object, not an array of them.');

/**
 * Answers an exception, unless the answer has begun. The time limit can end before the thread has checked a large body.
 */
function breakDown(error: unknown, request: Request, deps: RunRequestDeps): Denial {
  const { exchange, time } = request;
  const isLate = error instanceof TaskAborted;
  if (!isLate) deps.events.faultSeen(exchange.requestId, error);
  const denial = isLate ? denyEndedUnsent(time.deadline, { isReadOnly: false }) : INTERNAL;
  if (exchange.writer.restart()) refuse(denial, request, deps);
  else exchange.writer.breakOff();
  return denial;
}
