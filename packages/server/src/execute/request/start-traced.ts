/** Step: reads the trace of the caller, and starts the trace of the request if traces are on. */
import type { Request } from '../terms/request.ts';
import type { Tracing } from '../terms/tracing.ts';
import { readTraceparent } from './traceparent.ts';

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
