/**
 * The spans of a request: a request of several calls has a span around theirs; a request of one call has no span of its
 * own.
 */
import { type Context, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { TracedCall, TracedRequest } from '../execute/terms/tracing.ts';
import type { RefusalRecord } from '../observe/events.ts';
import { readParent } from './span-context.ts';
import { SpansOfCall, type SpanTools } from './spans-of-call.ts';

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
