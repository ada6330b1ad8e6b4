/** Step: reads the trace of the caller, and starts the trace of the request if traces are on. */
import type { Request } from '../terms/request.ts';
import type { Tracing } from '../terms/tracing.ts';

export interface StartTracedDeps {
  /** Null if traces are off. */
  tracing: Tracing | null;
}

/** `name`: that of the span; null if the request is one call. */
export function startTraced(name: string | null, request: Request, { tracing }: StartTracedDeps): void {
  const { exchange, startedMs, held } = request;
  const traceparent = readTraceparent(exchange.header('traceparent'));
  request.traceparent = traceparent;
  if (tracing === null) return;
  const traced = tracing.startRequest({ requestId: exchange.requestId, startedMs, traceparent, name });
  request.traced = traced;
  held.defer(() => traced.end());
}

/** Version, id of the trace, id of the caller's span, flags. Later versions may have more behind them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/;
const TRACEPARENT_LENGTH = 55;

/**
 * Reads `traceparent` (W3C Trace Context, level 1), which identifies the trace of which a call is part. Null if the
 * text is no valid one: the specification asks to ignore it then.
 */
export function readTraceparent(text: string | undefined): string | null {
  if (text === undefined || !TRACEPARENT.test(text)) return null;
  return text.startsWith('00') && text.length > TRACEPARENT_LENGTH ? null : text.slice(0, TRACEPARENT_LENGTH);
}

/** The id of the trace in a valid `traceparent`. */
export function findTraceId(traceparent: string): string {
  return traceparent.slice(3, 35);
}
