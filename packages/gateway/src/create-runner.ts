/** Makes the calls of a request that are not in its body, one after the other (CallRunner). */
import { AnswerCollector, type AnswerWriter } from '@erp-proxy/async/streams';
import { describeLimit, describeRequest } from './request/envelope.ts';
import { type RefuseDeps, refuse } from './request/refuse.ts';
import { prefersNormalized } from './request/request-headers.ts';
import { readTraceparent, startTraced } from './request/start-traced.ts';
import { type AdmitDataDeps, enterData } from './request/throttle.ts';
import { findFields, type RunCallDeps, runCall } from './run-call.ts';
import { type CallTerms, startCall, startTrace, traceCall } from './terms/call-context.ts';
import type { CallRunner, RunOptions } from './terms/call-runner.ts';
import { Denial } from './terms/denial.ts';
import type { FoundTypes } from './terms/field-finder.ts';
import type { Operation } from './terms/operation.ts';
import type { Request } from './terms/request.ts';
import * as largeCalls from './thread/large-calls.ts';

export interface RunnerDeps extends RunCallDeps, RefuseDeps, AdmitDataDeps {
  events: RunCallDeps['events'];
  admission: { readonly isStopping: boolean };
}

/** The calls are recorded as those of a batch, in the order in which they are made. */
export function createRunner(operation: Operation, request: Request, deps: RunnerDeps): CallRunner {
  const { exchange, time, bytes, idempotencyKey, keyAdmission } = request;
  // A request whose calls are not in its body has both.
  const [client, made] = [request.client!, request.made!];
  const { signal } = time;
  request.isBatch = made.isSingleCall !== true;
  startTraced(made.via, request, deps);
  const terms: CallTerms = {
    idempotencyKey: made.isSingleCall === true ? idempotencyKey : null,
    approvalIds: made.takesApprovals === true ? request.approvalIds : null,
    confirmation: null,
    areValuesNormalized:
      made.values === 'normalized' || (made.values === 'preferred' && prefersNormalized(exchange)),
    data: made.data ?? null,
  };
  let count = 0;
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
    areValuesNormalized: terms.areValuesNormalized,
    describe: () => describeRequest(request, deps.nowMs()),
    renewTime: () => time.renew(),
    pauseTime: () => time.pause(),
    isStopping: () => deps.admission.isStopping,
    admitData: (route) => enterData(client, route, deps),
    refuse: (denial, id) => refuse(denial, request, deps, id),
    run: (call, writer, options = {}) => runInOrder(() => runNext(call, writer, options)),
    findFields: (call, names) => runInOrder(() => findNext(call, names)),
  };

  async function runNext(
    call: Uint8Array,
    writer: AnswerWriter,
    { onAnswer, traceparent, ...changes }: RunOptions,
  ): Promise<Denial | null> {
    // The request itself counts as its first call.
    const denied = count === 0 ? null : await keyAdmission?.admitNext();
    if (denied) return denied;
    const body = await largeCalls.parseBody(call, signal);
    if (body instanceof Denial) return body;
    const index = count++;
    const trace = traceCall(request, deps.nowMs(), readTraceparent(traceparent) ?? request.traceparent);
    const describe = () => {
      onAnswer?.(trace);
      return describeLimit(trace.policyLimit);
    };
    const place = { request, client, index, body: body.bytes, span: body.calls[0]!, trace, writer, describe };
    await runCall(operation, startCall(place, { ...terms, ...changes }), deps);
    return null;
  }

  async function findNext(call: Uint8Array, names: readonly string[]): Promise<FoundTypes | null> {
    const body = await largeCalls.parseBody(call, signal);
    if (body instanceof Denial) return null;
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
    return await findFields(
      operation,
      startCall(place, { ...terms, areValuesNormalized: false }),
      names,
      deps,
    );
  }
}
