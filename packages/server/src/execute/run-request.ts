/**
 * What every request for a call passes through, whatever its operation: admission, key and limits, body and time. Then
 * each of its calls runs (run-call.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '../keys/keys.ts';
import type { Limits } from '../limits/key-limits.ts';
import { authorizeCaller } from './call/authorize.ts';
import { parseBody } from './call/parse.ts';
import { type Admission, denyStopping } from './request/admission.ts';
import { answerDenial } from './request/answer.ts';
import { describeLimit, describeRequest } from './request/answer-headers.ts';
import { type AuthenticateDeps, authenticate } from './request/authenticate.ts';
import { runBatch } from './request/batch.ts';
import { readIdempotencyKey } from './request/idempotency-key.ts';
import { type Pass, throttle } from './request/throttle.ts';
import { type RunCallDeps, runCall } from './run-call.ts';
import { readTimeoutMs } from './terms/deadline.ts';
import { Denial, INTERNAL } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import type { AnyParsed, AnyPrepared, Operation } from './terms/operation.ts';
import { type Body, NULL_ID } from './terms/parsed-body.ts';
import type { Request } from './terms/request.ts';
import { RequestTime } from './terms/request-time.ts';
import type { ServerAddress } from './terms/target.ts';

export interface RunRequestDeps extends AuthenticateDeps, RunCallDeps {
  admission: Admission;
  limits: Limits;
  settings: RunCallDeps['settings'] & { timeoutMs: number; batchConcurrency: number };
}

/** A request until its body is there. */
interface Arriving {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly time: RequestTime;
  readonly startedMs: number;
  /** Null until the key is accepted. */
  client: Client | null;
  /** Null if the key has no limits. */
  pass: Pass | null;
}

/** Runs a request of one operation to the last byte of its answer. Never rejects. */
export type Pipeline = (exchange: Exchange, dialect: Dialect) => Promise<void>;

export function createPipeline<
  Parsed extends AnyParsed,
  Place extends ServerAddress,
  Prepared extends AnyPrepared,
>(operation: Operation<Parsed, Place, Prepared>, deps: RunRequestDeps): Pipeline {
  return (exchange, dialect) => runRequest(operation, exchange, dialect, deps);
}

async function runRequest<
  Parsed extends AnyParsed,
  Place extends ServerAddress,
  Prepared extends AnyPrepared,
>(
  operation: Operation<Parsed, Place, Prepared>,
  exchange: Exchange,
  spoken: Dialect,
  deps: RunRequestDeps,
): Promise<void> {
  const dialect: Dialect = operation.isAddressInBody ? { ...spoken, instanceAt: '' } : spoken;
  const cutOff = () => exchange.writer.breakOff();
  const time = new RequestTime({ nowMs: deps.nowMs, defaultMs: deps.settings.timeoutMs, cutOff });
  const arriving: Arriving = { exchange, dialect, time, startedMs: deps.nowMs(), client: null, pass: null };
  exchange.onCallerLeft(() => time.callerLeft());
  deps.events.requestStarted();
  try {
    const denial = deps.admission.enter(time.deadline) ?? (await runAdmitted(operation, arriving, deps));
    if (denial !== null) refuse(denial, arriving, deps);
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    if (exchange.writer.restart()) refuse(INTERNAL, arriving, deps);
    else exchange.writer.breakOff();
  } finally {
    await exchange.waitUntilLeft();
    time.deadline.clear();
    arriving.pass?.leave();
    deps.admission.leave(time.deadline);
    deps.events.requestEnded();
  }
}

/** The denial of the whole request; null once its calls are answered. */
async function runAdmitted<
  Parsed extends AnyParsed,
  Place extends ServerAddress,
  Prepared extends AnyPrepared,
>(
  operation: Operation<Parsed, Place, Prepared>,
  arriving: Arriving,
  deps: RunRequestDeps,
): Promise<Denial | null> {
  const { exchange, dialect, time, startedMs } = arriving;
  const client = await authenticate(exchange, deps, dialect);
  if (client instanceof Denial) return client;
  arriving.client = client;
  const denied = authorizeCaller(client, exchange);
  if (denied !== null) return denied;
  const pass = client.policy === null ? null : await throttle(client, deps.limits);
  if (pass instanceof Denial) return pass;
  arriving.pass = pass;
  const idempotencyKey = readIdempotencyKey(exchange);
  if (idempotencyKey instanceof Denial) return idempotencyKey;
  const bytes = await exchange.readBody(time.signal);
  if (time.deadline.reason === 'shutdown') return denyStopping();
  if (bytes instanceof Denial) return bytes;
  time.start(readTimeoutMs(exchange.header('x-request-timeout')));
  const body = parseBody(bytes);
  if (body instanceof Denial) return body;
  const { isBatch } = body;
  if (isBatch && !operation.takesBatch) return NO_BATCH;
  const tooMany = await pass?.takeCalls(body.calls.length - 1);
  if (tooMany) return tooMany;
  const request: Request = { exchange, dialect, time, startedMs, isBatch, idempotencyKey };
  if (isBatch) await runCalls(operation, body, client, request, pass, deps);
  else {
    await runCall(
      operation,
      {
        body,
        index: 0,
        writer: exchange.writer,
        describe: (trace) => describeRequest({ startedMs, pass }, deps.nowMs(), trace),
      },
      client,
      request,
      deps,
    );
  }
  return null;
}

async function runCalls<Parsed extends AnyParsed, Place extends ServerAddress, Prepared extends AnyPrepared>(
  operation: Operation<Parsed, Place, Prepared>,
  body: Body,
  client: Client,
  request: Request,
  pass: Pass | null,
  deps: RunRequestDeps,
): Promise<void> {
  const { batchConcurrency, answerBytesPerSecondMin } = deps.settings;
  const wanted = Math.min(batchConcurrency, body.calls.length);
  const limit = await findBatchLimit(operation, body, client, request.dialect);
  await runBatch(
    {
      count: body.calls.length,
      concurrency: (await pass?.takeSlots(wanted)) ?? wanted,
      headers: {
        ...describeRequest({ startedMs: request.startedMs, pass }, deps.nowMs()),
        ...describeLimit(limit),
      },
      bytesPerSecondMin: answerBytesPerSecondMin,
    },
    request.exchange.writer,
    (index, writer) =>
      runCall(operation, { body, index, writer, describe: () => ({}) }, client, request, deps),
  );
}

/** Maximum bytes of a batch that are examined in one turn of the event loop. */
const TURN_BYTES = 64 * 1024;

/** The limit that the policy sets in a call of the batch, for the headers, which leave before the calls run. */
async function findBatchLimit<Parsed extends AnyParsed>(
  { parse, authorize }: Pick<Operation<Parsed>, 'parse' | 'authorize'>,
  { bytes, calls }: Body,
  client: Client,
  dialect: Dialect,
): Promise<number | null> {
  if (client.policy?.policy.limit_max === undefined) return null;
  let turnBytes = 0;
  for (const call of calls) {
    turnBytes += call.span.end - call.span.start;
    if (turnBytes > TURN_BYTES) {
      await nextTurn();
      turnBytes = 0;
    }
    const parsed = parse(bytes, call, dialect).call;
    const allowed = parsed instanceof Denial ? parsed : authorize(parsed, client);
    if (!(allowed instanceof Denial) && allowed.policyLimit !== undefined) return allowed.policyLimit;
  }
  return null;
}

/** Answers a request that is refused as a whole. */
function refuse(
  denial: Denial,
  { exchange, dialect, startedMs, client, pass }: Arriving,
  deps: RunRequestDeps,
): void {
  const { requestId, address, writer } = exchange;
  // A caller without a key is not told how long the check of it took.
  const headers = client === null ? {} : describeRequest({ startedMs, pass }, deps.nowMs());
  const { type, httpStatus, rule, detail } = answerDenial(denial, { id: NULL_ID, writer, headers, dialect });
  deps.events.requestRefused({
    requestId,
    keyId: client?.key.id ?? null,
    address,
    outcome: type,
    rule: rule ?? null,
    refusedKey: denial.more.refusedKey ?? null,
    httpStatus,
    detail: detail ?? null,
  });
}

const NO_BATCH = new Denial('invalid_request', 'This route takes one object, not an array of them.');
