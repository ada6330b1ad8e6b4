/** Converts between `traceparent` and the contexts of the SDK. */
import { type Context, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';

/** The context of which a span with this valid `traceparent` is the parent. Null: the span begins a trace. */
export function readParent(traceparent: string | null): Context {
  if (traceparent === null) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  // Only the flag for sampling is known.
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

export function printTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
