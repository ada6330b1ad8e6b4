/**
 * Traces with the SDK of OpenTelemetry: samples them, keeps ended spans in a bounded queue, and exports them in the
 * background. Loaded only if traces are on. Knows no steps of a call.
 */

import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import {
  describeResource,
  type OpenSignal,
  OtlpExporter,
  type SignalOptions,
  SPANS,
} from '@erp-proxy/observe/otlp';
import { ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Tracing } from '../terms/tracing.ts';
import { readParent } from './span-context.ts';
import { TracedOneCall, TracedSeveralCalls } from './traced-request.ts';

export interface TracingOptions extends SignalOptions {
  settings: SignalOptions['settings'] & { sampler: string; sampleRatio: number };
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export interface OpenTracing extends Tracing, OpenSignal {}

/** Maximum number of spans that wait for their export. Further spans are lost. A span takes about 2 KB. */
const WAITING_MAX = 2048;
/** Number of spans in one export. Encoding them takes a few milliseconds. */
const EXPORTED_AT_ONCE = 256;
/** Maximum length of an attribute, which may be a name that the caller made up. */
const VALUE_LENGTH_MAX = 256;

export function openTracing(options: TracingOptions): OpenTracing {
  const { settings, egress, version, clock, nowMs } = options;
  const exporter = new OtlpExporter(SPANS, settings, egress, options);
  const provider = new TracerProvider({
    sampler: chooseSampler(settings.sampler, settings.sampleRatio),
    spanLimits: { attributeValueLengthLimit: VALUE_LENGTH_MAX },
    resource: describeResource(settings, options),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: EXPORTED_AT_ONCE,
        // The exporter has its own limit, which must end first.
        exportTimeoutMillis: settings.timeoutMs + 1000,
      }),
    ],
  });
  const tracer: Tracer = provider.getTracer('erp-proxy', version);
  return {
    startRequest({ requestId, startedMs, traceparent, name }) {
      // One offset for all spans of a request, so that they stay in order if the system clock is set.
      const offsetMs = clock() - nowMs();
      const toWallClock = (ms: number) => offsetMs + ms;
      const tools = { tracer, nowMs, toWallClock };
      const parent = readParent(traceparent);
      if (name === null) return new TracedOneCall(parent, requestId, tools);
      const span = tracer.startSpan(
        name,
        {
          kind: SpanKind.SERVER,
          startTime: toWallClock(startedMs),
          attributes: { 'erp_proxy.request_id': requestId },
        },
        parent,
      );
      return new TracedSeveralCalls(
        span,
        trace.setSpan(ROOT_CONTEXT, span),
        { requestId, traceparent },
        tools,
      );
    },
    useHeaders: (headers) => exporter.sender.useHeaders(headers),
    async close(timeoutMs) {
      const closed = provider.shutdown().catch(() => {});
      if ((await waitFor(closed, { timeoutMs })) === TIMED_OUT) exporter.sender.abort();
    },
  };
}

/** Creates the sampler with a name of OTEL_TRACES_SAMPLER. */
function chooseSampler(name: string, ratio: number): Sampler {
  const prefix = 'parentbased_';
  if (name.startsWith(prefix)) {
    return new ParentBasedSampler({ root: chooseSampler(name.slice(prefix.length), ratio) });
  }
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  return new TraceIdRatioBasedSampler(ratio);
}
