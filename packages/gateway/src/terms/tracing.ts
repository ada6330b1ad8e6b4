/**
 * The interface between the pipeline and traces (`traces/`). Times are of the monotonic clock, in milliseconds. Without
 * `otel.endpoint` nothing implements it, and a call has no traced parts.
 */
import type { EgressAnswer, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import type { CallRecord, RefusalRecord } from '@erp-proxy/observe/events';
import type { Protocol } from './method-call.ts';

export interface Tracing {
  /** Starts the trace of a request whose client is known, or joins that of its `traceparent`. */
  startRequest(request: RequestFacts): TracedRequest;
}

export interface RequestFacts {
  requestId: string;
  startedMs: number;
  /** Valid; null if the caller sent none. */
  traceparent: string | null;
  /** Name of the span of a request with several calls. Null: the request is one call, and has no span of its own. */
  name: string | null;
}

export interface TracedRequest {
  /** Called once if the request is one call. `traceparent`: as of the request, or that of a tool's call. */
  startCall(startedMs: number, traceparent: string | null): TracedCall;
  /** Ends the span of a request that was refused as a whole. */
  refuse(refusal: RefusalRecord): void;
  /** Ends the span of the request, if it has not ended yet. */
  end(): void;
}

/** The spans of one call: the call, its waits for a permit, the time in which Odoo works on it, and each attempt. */
export interface TracedCall {
  /** Null if the trace is not recorded. */
  readonly traceId: string | null;
  /** The call begins to wait for a permit. Returns the function that ends the wait. */
  startWait(): () => void;
  /** The request is sent. */
  startAttempt(request: EgressRequest, protocol: Protocol): TracedAttempt;
  /** The whole answer of Odoo has arrived, or none will. */
  endUpstream(): void;
  end(record: CallRecord, endedMs: number): void;
}

export interface TracedAttempt {
  /** The header of the request to Odoo. */
  readonly traceparent: string;
  /** The head of the answer has arrived, or the attempt has failed. */
  end(result: Pick<EgressAnswer, 'ok' | 'status'> | EgressFailure): void;
}
