/**
 * What every request for a call passes through, whatever its operation: admission, key and limits, body and time. Then
 * each of its calls runs (run-call.ts). The calls are in its body, or are made while it is answered (CallRunner).
 */
import { randomUUID } from 'node:crypto';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import { ALL_ERRORS, type CallSource, type DataRoute } from '@erp-proxy/contract';
import type { Client } from '../keys/keys.ts';
import type { DataRequests } from '../limits/data-requests.ts';
import type { Limits } from '../limits/key-limits.ts';
import type { RefusalRecord } from '../observe/events.ts';
import { authorizeCaller, authorizeData } from './call/authorize.ts';
import { type Admission, denyStopping } from './request/admission.ts';
import { admitData } from './request/admit-data.ts';
import { answerDenial, CALLER_LEFT } from './request/answer.ts';
import { describeLimit, describeRequest, NORMALIZED } from './request/answer-headers.ts';
import { readApprovalIds } from './request/approval-ids.ts';
import { type AuthenticateDeps, authenticate } from './request/authenticate.ts';
import { runBatch } from './request/batch.ts';
import { readIdempotencyKey } from './request/idempotency-key.ts';
import { prefersNormalized } from './request/preference.ts';
import { type KeyAdmission, throttle } from './request/throttle.ts';
import { readTraceparent } from './request/traceparent.ts';
import { findFields, type RunCallDeps, runCall } from './run-call.ts';
import { BackgroundExchange } from './terms/background-exchange.ts';
import type { CallRunner, RunOptions } from './terms/call-runner.ts';
import type { CallTrace } from './terms/call-trace.ts';
import { readTimeoutMs } from './terms/deadline.ts';
import { Denial, INTERNAL } from './terms/denial.ts';
import { type Dialect, OWN_DIALECT } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import type { FoundTypes } from './terms/field-finder.ts';
import type { Operation } from './terms/operation.ts';
import { type Body, type CallSpan, NULL_ID } from './terms/parsed-body.ts';
import type { CallActor, Request } from './terms/request.ts';
import { RequestTime } from './terms/request-time.ts';
import type { TracedRequest, Tracing } from './terms/tracing.ts';
import { denyEndedUnsent } from './terms/upstream-denials.ts';
import * as largeCalls from './thread/large-calls.ts';
import { TaskAborted } from './thread/run-in-thread.ts';

export interface RunRequestDeps extends AuthenticateDeps, RunCallDeps {
  admission: Admission;
  limits: Limits;
  dataRequests: DataRequests;
  /** Null if traces are off. */
  tracing: Tracing | null;
  settings: RunCallDeps['settings'] & { timeoutMs: number; batchConcurrency: number };
}

/** A request before its body has arrived. */
interface IncomingRequest {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly time: RequestTime;
  readonly startedMs: number;
  /** The administrator who makes the call; null: its client does. */
  readonly actor: CallActor | null;
  /** Null until the key is accepted. */
  client: Client | null;
  /** Null if the key has no limits. */
  keyAdmission: KeyAdmission | null;
  /** Makes room for another request of its route; null if nothing bounds them. */
  leaveData: (() => void) | null;
  /** Null until its calls are known, or if traces are off. */
  traced: TracedRequest | null;
}

/** A request whose key and limits were checked, and whose body has arrived. */
interface ReceivedRequest {
  readonly bytes: Uint8Array;
  readonly client: Client;
  /** Null if the key has no limits. */
  readonly keyAdmission: KeyAdmission | null;
  readonly idempotencyKey: string | null;
  readonly approvalIds: readonly string[];
}

/** What a route does with its requests. */
interface Service extends Pick<MultiCallTerms, 'data' | 'body'> {
  /** In place of the client whose key the request has: that of a call that an administrator makes. */
  sender?: AdminSender;
  /** Runs the calls of a received request and answers it. Returns a denial of the whole request instead. */
  serve(received: ReceivedRequest, incoming: IncomingRequest): Promise<Denial | null>;
}

/** Runs a request of one operation to the last byte of its answer. Never rejects. */
export type Pipeline = (exchange: Exchange, dialect: Dialect) => Promise<void>;

export function createPipeline(operation: Operation, deps: RunRequestDeps): Pipeline {
  const service: Service = {
    serve: (received, incoming) => serveBody(operation, received, incoming, deps),
  };
  return (exchange, dialect) =>
    runRequest(service, exchange, operation.isAddressInBody ? { ...dialect, instanceAt: '' } : dialect, deps);
}

/** An administrator, and the client whose policy and limits hold for the call. */
export interface AdminSender {
  client: Client;
  actor: CallActor;
}

/**
 * Runs one call that an administrator makes, to the last byte of its answer. Never rejects. The exchange must hide
 * where the administrator is: that is not the place of the client.
 */
export type RunForAdmin = (exchange: Exchange, sender: AdminSender) => Promise<void>;

export function createForAdmin(operation: Operation, deps: RunRequestDeps): RunForAdmin {
  const oneCall = { ...operation, takesBatch: false };
  return (exchange, sender) => {
    const service: Service = {
      sender,
      serve: (received, incoming) => serveBody(oneCall, received, incoming, deps),
    };
    return runRequest(service, exchange, OWN_DIALECT, deps);
  };
}

/** How the calls of a {@link CallRunner} are made. */
export interface MultiCallTerms {
  via: CallSource;
  /** Whether values are normalized (docs/values.md); `preferred`: if the header `prefer` asks for it. */
  values: 'normalized' | 'preferred' | 'unconverted';
  /** What the policy of the key must allow in `data`; absent: nothing. Checked before the body is read. */
  data?: DataRoute;
  /** The body; `bytes`: a file of any media type. Default: JSON. */
  body?: 'json' | 'bytes';
  /** True if the request makes one call, for which `idempotency-key` holds. */
  isSingleCall?: true;
  /** True if its call can have an approval, which `x-approval` names. Others are denied if they need one. */
  takesApprovals?: true;
  /** True if interactive calls go first (limits/database/). Default: false. */
  isBackground?: boolean;
}

/**
 * The same for requests whose calls are not in their body: `answer` makes them, one after the other.
 * Each may be given an idempotency key.
 */
export function createMultiCall(
  operation: Operation,
  terms: MultiCallTerms,
  answer: (runner: CallRunner) => Promise<Denial | null>,
  deps: RunRequestDeps,
): Pipeline {
  const service: Service = {
    ...terms,
    serve: (received, incoming) => answer(createRunner(operation, terms, received, incoming, deps)),
  };
  return (exchange, dialect) => runRequest(service, exchange, dialect, deps);
}

/**
 * Runs calls that no request asks for, and returns what `work` gives, or why none of its calls may run. The calls are
 * made as those of a request: policy, limits, database limiter, audit and shutdown hold for them.
 */
export type RunBackground = <Result>(
  client: Client,
  signal: AbortSignal,
  work: (runner: CallRunner) => Promise<Result>,
) => Promise<Result | Denial>;

export function createBackground(
  operation: Operation,
  terms: MultiCallTerms,
  deps: RunRequestDeps,
): RunBackground {
  return async (client, signal, work) => {
    const exchange = new BackgroundExchange(randomUUID());
    const time = new RequestTime({ nowMs: deps.nowMs, defaultMs: deps.settings.timeoutMs });
    const incoming = createIncoming(exchange, OWN_DIALECT, time, null, deps);
    const end = () => time.callerLeft();
    const denied = deps.admission.enter(time.deadline);
    if (denied !== null) return denied;
    signal.addEventListener('abort', end);
    try {
      if (signal.aborted) end();
      const refused = admitClient(client, terms.data, incoming, deps);
      if (refused !== null) return refused;
      const keyAdmission = client.policy === null ? null : await throttle(client, deps.limits);
      if (keyAdmission instanceof Denial) return keyAdmission;
      incoming.keyAdmission = keyAdmission;
      time.start(null);
      const received = { bytes: NO_BYTES, client, keyAdmission, idempotencyKey: null, approvalIds: [] };
      return await work(createRunner(operation, terms, received, incoming, deps));
    } finally {
      signal.removeEventListener('abort', end);
      leave(incoming, deps);
    }
  };
}

const NO_BYTES = Buffer.alloc(0);

function createIncoming(
  exchange: Exchange,
  dialect: Dialect,
  time: RequestTime,
  actor: CallActor | null,
  { nowMs }: RunRequestDeps,
): IncomingRequest {
  return {
    exchange,
    dialect,
    time,
    startedMs: nowMs(),
    actor,
    client: null,
    keyAdmission: null,
    leaveData: null,
    traced: null,
  };
}

async function runRequest(
  service: Service,
  exchange: Exchange,
  dialect: Dialect,
  deps: RunRequestDeps,
): Promise<void> {
  const cutOff = () => exchange.writer.breakOff();
  const time = new RequestTime({ nowMs: deps.nowMs, defaultMs: deps.settings.timeoutMs, cutOff });
  const incoming = createIncoming(exchange, dialect, time, service.sender?.actor ?? null, deps);
  exchange.onCallerLeft(() => time.callerLeft());
  deps.events.requestStarted();
  try {
    const denial = deps.admission.enter(time.deadline) ?? (await runAdmitted(service, incoming, deps));
    if (denial !== null) refuse(denial, incoming, deps);
  } catch (error) {
    const isLate = error instanceof TaskAborted;
    if (!isLate) deps.events.faultSeen(exchange.requestId, error);
    const refusal = isLate ? denyEndedUnsent(time.deadline, { isReadOnly: false }) : INTERNAL;
    if (exchange.writer.restart()) refuse(refusal, incoming, deps);
    else exchange.writer.breakOff();
  } finally {
    exchange.releaseBody();
    await exchange.waitUntilLeft();
    leave(incoming, deps);
    deps.events.requestEnded();
  }
}

/** Returns the denial of the whole request, or null after its calls were answered. */
async function runAdmitted(
  { sender, data, body, serve }: Service,
  incoming: IncomingRequest,
  deps: RunRequestDeps,
): Promise<Denial | null> {
  const { exchange, dialect, time } = incoming;
  const client = sender?.client ?? (await authenticate(exchange, deps, dialect));
  if (client instanceof Denial) return client;
  const denied = admitClient(client, data, incoming, deps);
  if (denied !== null) return denied;
  const keyAdmission = client.policy === null ? null : await throttle(client, deps.limits);
  if (keyAdmission instanceof Denial) return keyAdmission;
  incoming.keyAdmission = keyAdmission;
  const idempotencyKey = readIdempotencyKey(exchange);
  if (idempotencyKey instanceof Denial) return idempotencyKey;
  const approvalIds = readApprovalIds(exchange);
  if (approvalIds instanceof Denial) return approvalIds;
  const bytes = await exchange.readBody(time.signal, body);
  if (time.deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  time.start(readTimeoutMs(exchange.header('x-request-timeout')));
  return serve({ bytes, client, keyAdmission, idempotencyKey, approvalIds }, incoming);
}

/** Checks what the policy of the client says of all its calls, and makes room for what the request moves. */
function admitClient(
  client: Client,
  data: DataRoute | undefined,
  incoming: IncomingRequest,
  { dataRequests }: RunRequestDeps,
): Denial | null {
  incoming.client = client;
  const denied = authorizeCaller(client, incoming.exchange) ?? authorizeData(client, data ?? null);
  if (denied !== null) return denied;
  const leaveData = admitData(client, data, dataRequests);
  if (leaveData instanceof Denial) return leaveData;
  incoming.leaveData = leaveData;
  return null;
}

/** Gives back what an admitted request holds. */
function leave(
  { time, leaveData, keyAdmission, traced }: IncomingRequest,
  { admission }: RunRequestDeps,
): void {
  time.deadline.clear();
  leaveData?.();
  keyAdmission?.release();
  admission.leave(time.deadline);
  traced?.end();
}

/** Runs the calls of the body. */
async function serveBody(
  operation: Operation,
  { bytes, client, keyAdmission, idempotencyKey, approvalIds }: ReceivedRequest,
  incoming: IncomingRequest,
  deps: RunRequestDeps,
): Promise<Denial | null> {
  const { exchange, dialect, time, startedMs, actor } = incoming;
  const body = await largeCalls.parseBody(bytes, time.signal);
  if (body instanceof Denial) return body;
  const { isBatch } = body;
  if (isBatch && !operation.takesBatch) return NO_BATCH;
  const tooMany = isBatch ? await keyAdmission?.admitCalls(body.calls.length - 1) : null;
  if (tooMany) return tooMany;
  const areValuesNormalized = dialect.takesPreferences && prefersNormalized(exchange);
  const request: Request = {
    exchange,
    dialect,
    time,
    startedMs,
    isBatch,
    idempotencyKey,
    hasKeyForOneCall: false,
    approvalIds,
    confirmation: null,
    ...startTraced(isBatch ? 'batch' : null, incoming, deps),
    areValuesNormalized,
    via: actor === null ? null : 'console',
    actor,
    data: null,
    isBackground: false,
  };
  if (isBatch) await runCalls(operation, body, client, request, keyAdmission, deps);
  else {
    await runCall(
      operation,
      {
        body,
        index: 0,
        writer: exchange.writer,
        describe: (trace) => describeRequest({ startedMs, keyAdmission }, deps.nowMs(), trace),
      },
      client,
      request,
      deps,
    );
  }
  return null;
}

/** The calls are recorded as those of a batch, in the order in which they are made. */
function createRunner(
  operation: Operation,
  { via, data, values, isSingleCall, takesApprovals, isBackground = false }: MultiCallTerms,
  { bytes, client, keyAdmission, idempotencyKey, approvalIds }: ReceivedRequest,
  incoming: IncomingRequest,
  deps: RunRequestDeps,
): CallRunner {
  const { exchange, dialect, time, startedMs } = incoming;
  const request: Request = {
    exchange,
    dialect,
    time,
    startedMs,
    isBatch: isSingleCall !== true,
    idempotencyKey: isSingleCall === true ? idempotencyKey : null,
    hasKeyForOneCall: true,
    approvalIds: takesApprovals === true ? approvalIds : null,
    confirmation: null,
    ...startTraced(via, incoming, deps),
    areValuesNormalized: values === 'normalized' || (values === 'preferred' && prefersNormalized(exchange)),
    via,
    actor: null,
    data: data ?? null,
    isBackground,
  };
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    client,
    bytes,
    exchange,
    signal: time.signal,
    idempotencyKey,
    areValuesNormalized: request.areValuesNormalized,
    describe: () => describeRequest({ startedMs, keyAdmission }, deps.nowMs()),
    renewTime: () => time.renew(),
    pauseTime: () => time.pause(),
    isStopping: () => deps.admission.isStopping,
    admitData: (route) => admitData(client, route, deps.dataRequests),
    refuse: (denial, id) => refuse(denial, incoming, deps, id),
    run(call, writer, options = {}) {
      const ran = last.then(() => runNext(call, writer, options));
      last = ran.catch(() => {});
      return ran;
    },
    findFields(call, names) {
      const found = last.then(() => findNext(call, names));
      last = found.catch(() => {});
      return found;
    },
  };

  async function findNext(call: Uint8Array, names: readonly string[]): Promise<FoundTypes | null> {
    const body = await largeCalls.parseBody(call, time.signal);
    return body instanceof Denial
      ? null
      : findFields(operation, { body, index: 0 }, names, client, request, deps);
  }

  async function runNext(
    call: Uint8Array,
    writer: AnswerWriter,
    { onAnswer, traceparent, ...changes }: RunOptions,
  ): Promise<Denial | null> {
    // The request itself counts as its first call.
    const denied = count === 0 ? null : await keyAdmission?.admitNext();
    if (denied) return denied;
    const body = await largeCalls.parseBody(call, time.signal);
    if (body instanceof Denial) return body;
    const index = count++;
    const calls: CallSpan[] = [];
    calls[index] = body.calls[0]!;
    const describe = (trace: CallTrace) => {
      onAnswer?.(trace);
      return describeLimit(trace.policyLimit);
    };
    const named: Request = {
      ...request,
      ...changes,
      traceparent: readTraceparent(traceparent) ?? request.traceparent,
    };
    await runCall(operation, { body: { ...body, calls }, index, writer, describe }, client, named, deps);
    return null;
  }
}

/** Reads the trace of the caller, and starts the trace of the request if traces are on. */
function startTraced(
  name: string | null,
  incoming: IncomingRequest,
  { tracing }: RunRequestDeps,
): Pick<Request, 'traceparent' | 'traced'> {
  const { exchange, startedMs } = incoming;
  const traceparent = readTraceparent(exchange.header('traceparent'));
  if (tracing === null) return { traceparent, traced: null };
  const { requestId } = exchange;
  incoming.traced = tracing.startRequest({ requestId, startedMs, traceparent, name });
  return { traceparent, traced: incoming.traced };
}

async function runCalls(
  operation: Operation,
  body: Body,
  client: Client,
  request: Request,
  keyAdmission: KeyAdmission | null,
  deps: RunRequestDeps,
): Promise<void> {
  const { batchConcurrency, answerBytesPerSecondMin } = deps.settings;
  const wanted = Math.min(batchConcurrency, body.calls.length);
  const limit = await findBatchLimit(operation, body, client, request);
  const isNormalized = request.areValuesNormalized && (await hasConvertedValues(operation, body, request));
  await runBatch(
    {
      count: body.calls.length,
      concurrency: (await keyAdmission?.acquireConcurrency(wanted)) ?? wanted,
      headers: {
        ...describeRequest({ startedMs: request.startedMs, keyAdmission }, deps.nowMs()),
        ...describeLimit(limit),
        ...(isNormalized ? NORMALIZED : {}),
      },
      bytesPerSecondMin: answerBytesPerSecondMin,
    },
    request.exchange.writer,
    (index, writer) =>
      runCall(operation, { body, index, writer, describe: () => ({}) }, client, request, deps),
  );
}

/** Finds the limit that the policy sets in a call of the batch. The headers need it before the calls run. */
async function findBatchLimit(
  operation: Operation,
  { bytes, calls }: Body,
  client: Client,
  { dialect, time: { signal } }: Request,
): Promise<number | null> {
  if (client.policy?.policy.limit_max === undefined) return null;
  for (const call of calls) {
    const { call: parsed } = await operation.parse(bytes, call, dialect, signal);
    const allowed =
      parsed instanceof Denial ? parsed : await operation.authorize(parsed, client, 'unconverted', signal);
    if (!(allowed instanceof Denial) && allowed.policyLimit !== undefined) return allowed.policyLimit;
  }
  return null;
}

/** The headers of a batch are sent before its calls run. */
async function hasConvertedValues(
  { parse, hasValues }: Operation,
  { bytes, calls }: Body,
  { dialect, time: { signal } }: Request,
): Promise<boolean> {
  for (const span of calls) {
    const { call } = await parse(bytes, span, dialect, signal);
    if (!(call instanceof Denial) && hasValues?.(call) === true) return true;
  }
  return false;
}

/** Answers a request that is refused as a whole. */
function refuse(
  denial: Denial,
  incoming: IncomingRequest,
  deps: RunRequestDeps,
  id: Uint8Array = NULL_ID,
): void {
  const { exchange, dialect, time, startedMs, actor, client, keyAdmission } = incoming;
  // The clock may not run yet. A caller that does not read its refusal must not keep the request for ever.
  if (time.dueMs === Number.POSITIVE_INFINITY) time.start(null);
  const { requestId, writer } = exchange;
  // A caller without a valid key must not learn how long the check took.
  const headers = client === null ? {} : describeRequest({ startedMs, keyAdmission }, deps.nowMs());
  // Calls fail because their caller has left. The record must not blame Odoo or the proxy for that.
  const hasCallerLeft = time.deadline.reason === 'caller_left' && 'hasOutcome' in ALL_ERRORS[denial.type];
  const { type, httpStatus, rule, detail } = hasCallerLeft
    ? CALLER_LEFT
    : answerDenial(denial, { id, writer, headers, dialect });
  const refusal: RefusalRecord = {
    requestId,
    keyId: client?.key.id ?? null,
    clientId: client?.key.clientId ?? null,
    address: (actor ?? exchange).address,
    outcome: type,
    rule: rule ?? null,
    refusedKey: denial.more.refusedKey ?? null,
    ...(actor === null ? null : { actor: actor.name }),
    httpStatus,
    detail: detail ?? null,
  };
  deps.events.requestRefused(refusal);
  // Callers without a key must not fill the queue of spans.
  if (client !== null && incoming.traced === null) startTraced('refused', incoming, deps);
  incoming.traced?.refuse(refusal);
}

const NO_BATCH = new Denial('invalid_request', 'This route takes one object, not an array of them.');
