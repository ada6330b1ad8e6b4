/** Converts between `traceparent` and the contexts of the SDK. */
import { type Context, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';

/** The context of a span whose parent is this valid `traceparent`. Null: the span begins a trace. */
export function readParent(traceparent: string | null): Context {
  if (traceparent === null) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  // Only the flag for sampling is defined.
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

export function printTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
