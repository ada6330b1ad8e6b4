/**
 * The spans of a request: a request of several calls has a span around theirs; a request of one call has no span of its
 * own.
 */

import type { EgressAnswer, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import type { CallRecord, RefusalRecord } from '@erp-proxy/observe/events';
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Protocol } from '../terms/method-call.ts';
import type { TracedAttempt, TracedCall, TracedRequest } from '../terms/tracing.ts';
import { printTraceparent, readParent } from './span-context.ts';

export class TracedOneCall implements TracedRequest {
  readonly #parent: Context;
  readonly #requestId: string;
  readonly #tools: SpanTools;

  constructor(parent: Context, requestId: string, tools: SpanTools) {
    this.#parent = parent;
    this.#requestId = requestId;
    this.#tools = tools;
  }

  startCall(startedMs: number): TracedCall {
    return new SpansOfCall(SpanKind.SERVER, startedMs, this.#parent, this.#requestId, this.#tools);
  }

  /** Does nothing: a request is refused before its call starts. */
  refuse(): void {}

  end(): void {}
}

export class TracedSeveralCalls implements TracedRequest {
  readonly #span: Span;
  readonly #context: Context;
  readonly #traceparent: string | null;
  readonly #requestId: string;
  readonly #tools: SpanTools;

  constructor(
    span: Span,
    context: Context,
    { requestId, traceparent }: { requestId: string; traceparent: string | null },
    tools: SpanTools,
  ) {
    this.#span = span;
    this.#context = context;
    this.#traceparent = traceparent;
    this.#requestId = requestId;
    this.#tools = tools;
  }

  /** The call of a tool can have its own `traceparent`. It then belongs to that trace. */
  startCall(startedMs: number, traceparent: string | null): TracedCall {
    const isOfRequest = traceparent === null || traceparent === this.#traceparent;
    const parent = isOfRequest ? this.#context : readParent(traceparent);
    return new SpansOfCall(SpanKind.INTERNAL, startedMs, parent, this.#requestId, this.#tools);
  }

  refuse({ outcome, httpStatus, keyId, clientId, rule }: RefusalRecord): void {
    this.#span.setAttributes({
      'http.response.status_code': httpStatus,
      'error.type': outcome,
      ...(keyId === null ? null : { 'erp_proxy.key_id': keyId }),
      ...(clientId === null ? null : { 'erp_proxy.client_id': clientId }),
      ...(rule === null ? null : { 'erp_proxy.rule': rule }),
    });
    if (httpStatus >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end(this.#tools.toWallClock(this.#tools.nowMs()));
  }
}

interface SpanTools {
  tracer: Tracer;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Converts a time of the monotonic clock to milliseconds since 1970. */
  toWallClock: (ms: number) => number;
}

/**
 * The spans of one call. Their attributes are those of the record of the call: names, numbers and outcomes, no values
 * and no credentials. Names follow the semantic conventions of OpenTelemetry where there is one.
 */
class SpansOfCall implements TracedCall {
  readonly traceId: string | null;
  readonly #span: Span;
  readonly #context: Context;
  readonly #tools: SpanTools;
  #upstream: Span | null = null;
  #attempts = 0;

  constructor(kind: SpanKind, startedMs: number, parent: Context, requestId: string, tools: SpanTools) {
    this.#tools = tools;
    const startTime = tools.toWallClock(startedMs);
    const attributes = { 'erp_proxy.request_id': requestId };
    this.#span = tools.tracer.startSpan('call', { kind, startTime, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
    this.traceId = this.#span.isRecording() ? this.#span.spanContext().traceId : null;
  }

  startWait(): () => void {
    const span = this.#start('queue', SpanKind.INTERNAL, this.#context);
    return () => span.end(this.#now());
  }

  startAttempt(request: EgressRequest, protocol: Protocol): TracedAttempt {
    this.#upstream ??= this.#start('upstream', SpanKind.INTERNAL, this.#context);
    const parent = trace.setSpan(this.#context, this.#upstream);
    const span = this.#start(request.method, SpanKind.CLIENT, parent);
    const resends = this.#attempts++;
    if (span.isRecording()) {
      const { protocol: scheme, hostname, port } = new URL(request.origin);
      span.setAttributes({
        'http.request.method': request.method,
        'server.address': hostname,
        'server.port': port === '' ? (scheme === 'https:' ? 443 : 80) : Number(port),
        'erp_proxy.protocol': protocol,
        ...(resends === 0 ? null : { 'http.request.resend_count': resends }),
      });
    }
    return {
      traceparent: printTraceparent(span.spanContext()),
      end: (result) => {
        describeResult(span, result);
        span.end(this.#now());
      },
    };
  }

  endUpstream(): void {
    this.#upstream?.end(this.#now());
    this.#upstream = null;
  }

  end(record: CallRecord, endedMs: number): void {
    const span = this.#span;
    if (!span.isRecording()) return;
    this.#upstream?.end(this.#tools.toWallClock(endedMs));
    this.#upstream = null;
    if (record.model !== null && record.method !== null) span.updateName(`${record.model}/${record.method}`);
    span.setAttributes(describeCall(record));
    if (record.httpStatus >= 500 || isFailure(record)) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(this.#tools.toWallClock(endedMs));
  }

  #start(name: string, kind: SpanKind, parent: Context): Span {
    return this.#tools.tracer.startSpan(name, { kind, startTime: this.#now() }, parent);
  }

  #now(): number {
    return this.#tools.toWallClock(this.#tools.nowMs());
  }
}

function describeCall(record: CallRecord): Record<string, string | number> {
  const attributes: Record<string, string | number | null> = {
    'rpc.method': record.model === null || record.method === null ? null : `${record.model}/${record.method}`,
    'http.response.status_code': record.httpStatus,
    'client.address': record.address,
    'error.type': isOk(record) ? null : record.outcome,
    'erp_proxy.outcome': record.outcome,
    'erp_proxy.code': record.code,
    'erp_proxy.key_id': record.keyId,
    'erp_proxy.client_id': record.clientId,
    'erp_proxy.batch_index': record.batchIndex,
    'erp_proxy.instance': record.instance,
    'erp_proxy.upstream': record.upstream,
    'erp_proxy.db': record.db,
    'erp_proxy.model': record.model,
    'erp_proxy.action': record.method,
    'erp_proxy.rule': record.rule,
    'erp_proxy.approval': record.approval,
    'erp_proxy.via': record.via,
    'erp_proxy.protocol': record.protocol,
    'erp_proxy.attempts': record.attempts,
    'erp_proxy.shared_from': record.sharedFrom,
  };
  const given = Object.entries(attributes).filter((entry): entry is [string, string | number] => {
    return entry[1] !== null;
  });
  return Object.fromEntries(given);
}

function isOk({ outcome }: CallRecord): boolean {
  return outcome === 'ok' || outcome === 'replayed';
}

/** True for failures of Odoo and of the proxy. A mistake of the caller is not an error of the server. */
function isFailure({ outcome }: CallRecord): boolean {
  return outcome.startsWith('upstream_') || outcome === 'internal' || outcome === 'broken_off';
}

function describeResult(span: Span, result: Pick<EgressAnswer, 'ok' | 'status'> | EgressFailure): void {
  if (result.ok) {
    span.setAttribute('http.response.status_code', result.status);
    if (result.status < 400) return;
    span.setAttribute('error.type', String(result.status));
  } else {
    span.setAttribute('error.type', result.reason);
  }
  span.setStatus({ code: SpanStatusCode.ERROR });
}
