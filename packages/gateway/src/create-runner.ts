/** Makes the calls of a request that are not in its body, one after the other, or in parts beside each other. */
import { AnswerCollector, type AnswerHeaders, type AnswerWriter } from '@erp-proxy/async/streams';
import { describeBatch, describeCall, describeRequest } from './request/envelope.ts';
import { type RefuseDeps, refuse } from './request/refuse.ts';
import { prefersNormalized, readAsyncPreference } from './request/request-headers.ts';
import { readTraceparent, startTraced } from './request/start-traced.ts';
import { type AdmitDataDeps, enterData } from './request/throttle.ts';
import { decideCall, findFields, type RunCallDeps, runCall } from './run-call.ts';
import { type CallContext, type CallTerms, startCall, startTrace, traceCall } from './terms/call-context.ts';
import type { CallRunner, RunOptions } from './terms/call-runner.ts';
import type { Deferral } from './terms/deferral.ts';
import { Denial } from './terms/denial.ts';
import type { FoundTypes } from './terms/field-finder.ts';
import type { Operation } from './terms/operation.ts';
import type { Body } from './terms/parsed-body.ts';
import type { Request } from './terms/request.ts';
import * as largeCalls from './thread/large-calls.ts';

export interface RunnerDeps extends RunCallDeps, RefuseDeps, AdmitDataDeps {
  events: RunCallDeps['events'];
  admission: { readonly isStopping: boolean };
  settings: RunCallDeps['settings'] & { timeoutMs: number };
}

/** The calls are recorded as those of a batch, in the order in which they are made. */
export function createRunner(operation: Operation, request: Request, deps: RunnerDeps): CallRunner {
  // A request whose calls are not in its body has one.
  const made = request.made!;
  request.isBatch = made.isSingleCall !== true;
  startTraced(made.via, request, deps);
  const terms: CallTerms = {
    idempotencyKey: made.isSingleCall === true ? request.idempotencyKey : null,
    approvalIds: made.takesApprovals === true ? request.approvalIds : null,
    confirmation: null,
    areValuesNormalized:
      made.values === 'normalized' || (made.values === 'preferred' && prefersNormalized(request.exchange)),
    data: made.data ?? null,
    deferral: null,
  };
  return createPart(operation, request, terms, { isBegun: false, calls: 0 }, deps);
}

/**
 * A runner for the request, or for a part of it, which has a time limit of its own. `counted`: the calls of all parts.
 */
function createPart(
  operation: Operation,
  request: Request,
  terms: CallTerms,
  counted: { isBegun: boolean; calls: number },
  deps: RunnerDeps,
): CallRunner {
  const { exchange, time, bytes, idempotencyKey, keyAdmission } = request;
  // A request whose calls are not in its body has a client.
  const client = request.client!;
  const { signal } = time;
  let last: Promise<unknown> = Promise.resolve();
  const runInOrder = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const ran = last.then(run);
    last = ran.catch(() => {});
    return ran;
  };
  return {
    client,
    bytes,
    exchange,
    signal,
    idempotencyKey,
    deferral: findDeferral(request),
    areValuesNormalized: terms.areValuesNormalized,
    describe: () => describeRequest(request, deps.nowMs()),
    renewTime: () => time.renew(),
    pauseTime: () => time.pause(),
    isStopping: () => deps.admission.isStopping,
    admitData: (route) => enterData(client, route, deps),
    refuse: (denial, id) => refuse(denial, request, deps, id),
    run: (call, writer, options = {}) => runInOrder(() => runNext(call, writer, options)),
    decide,
    acquireConcurrency: async (wanted) => (await keyAdmission?.acquireConcurrency(wanted)) ?? wanted,
    startPart() {
      const part = time.startPart(deps.settings.timeoutMs);
      const runner = createPart(operation, { ...request, time: part.time }, terms, counted, deps);
      return { ...runner, end: part.end };
    },
    findFields: (call, names) => runInOrder(() => findNext(call, names)),
  };

  async function runNext(
    call: Uint8Array,
    writer: AnswerWriter,
    { onAnswer, traceparent, ...changes }: RunOptions,
  ): Promise<Denial | null> {
    // The request itself counts as its first call.
    const isFirst = !counted.isBegun;
    counted.isBegun = true;
    const denied = isFirst ? null : await keyAdmission?.admitNext();
    if (denied) return denied;
    const body = await largeCalls.parseBody(call, signal);
    if (body instanceof Denial) return body;
    const index = counted.calls++;
    const trace = traceCall(request, deps.nowMs(), readTraceparent(traceparent) ?? request.traceparent);
    const describe = () => {
      onAnswer?.(trace);
      return describeCall(trace);
    };
    const place = { request, client, index, body: body.bytes, span: body.calls[0]!, trace, writer, describe };
    await runCall(operation, startCall(place, { ...terms, ...changes }), deps);
    return null;
  }

  async function decide(call: Uint8Array): Promise<Denial | AnswerHeaders> {
    const body = await largeCalls.parseBody(call, signal);
    if (body instanceof Denial) return body;
    const decided = await decideCall(operation, startUnsent(body, terms.areValuesNormalized));
    if (decided instanceof Denial) return decided;
    return await describeBatch(operation, body, request, terms.areValuesNormalized);
  }

  async function findNext(call: Uint8Array, names: readonly string[]): Promise<FoundTypes | null> {
    const body = await largeCalls.parseBody(call, signal);
    if (body instanceof Denial) return null;
    return await findFields(operation, startUnsent(body, false), names, deps);
  }

  /** Starts a call that is not sent. */
  function startUnsent(body: Body, areValuesNormalized: boolean): CallContext {
    const place = {
      request,
      client,
      index: 0,
      body: body.bytes,
      span: body.calls[0]!,
      trace: startTrace(deps.nowMs(), request.traceparent),
      writer: new AnswerCollector(0),
      describe: () => ({}),
    };
    return startCall(place, { ...terms, areValuesNormalized });
  }
}

function findDeferral({ made, exchange, bytes }: Request): Deferral | null {
  const preference = made?.job === undefined ? null : readAsyncPreference(exchange);
  return preference && { ...preference, route: made!.job!, bytes };
}
