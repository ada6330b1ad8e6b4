/**
 * Sends ended spans to the collector by OTLP over HTTP: the official encoding, sent by the egress dispatcher as all
 * outgoing requests. Its failures never affect a call.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { delay } from '@erp-proxy/async/tasks';
import { type EgressDispatcher, type EgressRequest, fetchWhole } from '@erp-proxy/egress';
import { ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { readPairs } from './read-pairs.ts';

export interface OtlpOptions {
  /** URL of the collector. A URL without a path gets `/v1/traces`. */
  endpoint: string;
  /** Texts `name=value`, with %-escapes. */
  headers: readonly string[];
  /** `http/json` or `http/protobuf`. */
  protocol: string;
  /** `none` or `gzip`. */
  compression: string;
  /** Time limit of an export including its retries. */
  timeoutMs: number;
}

/** Called once at the beginning and at the end of an outage. */
export interface ExportNotices {
  onFailure: (reason: string) => void;
  /** `lost`: number of spans that were not delivered during the outage. */
  onRecovery: (lost: number) => void;
}

type Outcome = { isDelivered: true } | { isDelivered: false; reason: string; isRetried: boolean };

const compress = promisify(gzip);
/**
 * Maximum size of an answer. A collector usually sends some bytes. A longer answer is not read, which closes its
 * connection.
 */
const ANSWER_BYTES_MAX = 64 * 1024;
const FIRST_RETRY_MS = 500;
/** Status codes after which OTLP asks for a retry. */
const RETRIED = new Set([429, 502, 503, 504]);

export class OtlpExporter implements SpanExporter {
  readonly #options: OtlpOptions;
  readonly #egress: EgressDispatcher;
  readonly #notices: ExportNotices;
  readonly #aborted = new AbortController();
  readonly #head: Omit<EgressRequest, 'body'>;
  readonly #running = new Set<Promise<void>>();
  /** Number of spans lost in the current outage; null while spans are delivered. */
  #lost: number | null = null;

  constructor(options: OtlpOptions, egress: EgressDispatcher, notices: ExportNotices) {
    this.#options = options;
    this.#egress = egress;
    this.#notices = notices;
    const url = new URL(options.endpoint);
    this.#head = {
      method: 'POST',
      origin: url.origin,
      path: url.pathname === '/' ? '/v1/traces' : url.pathname,
      headers: {
        ...Object.fromEntries(readPairs(options.headers).map(([name, value]) => [name.toLowerCase(), value])),
        'content-type': options.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
        ...(options.compression === 'gzip' ? { 'content-encoding': 'gzip' } : null),
      },
      // The operator chooses the collector, which usually is in the same network.
      trust: { id: 'otel.endpoint', certificates: null, isAllowed: true },
    };
  }

  export(spans: ReadableSpan[], onDone: Parameters<SpanExporter['export']>[1]): void {
    const running = this.#deliver(spans)
      .catch((error: unknown): Outcome => {
        return {
          isDelivered: false,
          reason: error instanceof Error ? error.message : String(error),
          isRetried: false,
        };
      })
      .then((outcome) => {
        this.#note(outcome, spans.length);
        this.#running.delete(running);
        // The queue only needs to know that the export has ended.
        onDone({ code: ExportResultCode.SUCCESS });
      });
    this.#running.add(running);
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.#running);
  }

  async shutdown(): Promise<void> {
    await this.forceFlush();
  }

  /** Ends running exports. Their spans are lost. */
  abort(): void {
    this.#aborted.abort();
  }

  async #deliver(spans: ReadableSpan[]): Promise<Outcome> {
    const { protocol, compression, timeoutMs } = this.#options;
    const serializer = protocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer;
    const plain = serializer.serializeRequest(spans);
    if (plain === undefined)
      return { isDelivered: false, reason: 'the spans cannot be encoded', isRetried: false };
    const body = compression === 'gzip' ? await compress(plain) : plain;
    const signal = AbortSignal.any([this.#aborted.signal, AbortSignal.timeout(timeoutMs)]);
    for (let waitMs = FIRST_RETRY_MS; ; waitMs *= 2) {
      const outcome = await this.#send(body, signal);
      if (outcome.isDelivered || !outcome.isRetried || signal.aborted) return outcome;
      await delay(waitMs * (0.5 + Math.random()), signal);
      if (signal.aborted) return outcome;
    }
  }

  async #send(body: Uint8Array, signal: AbortSignal): Promise<Outcome> {
    const answer = await fetchWhole(
      this.#egress,
      { ...this.#head, body },
      { signal, bytesMax: ANSWER_BYTES_MAX },
    );
    if (!answer.ok)
      return { isDelivered: false, reason: `${answer.reason}: ${answer.detail}`, isRetried: true };
    if (answer.status >= 200 && answer.status < 300) return { isDelivered: true };
    return {
      isDelivered: false,
      reason: `the collector answered ${answer.status}`,
      isRetried: RETRIED.has(answer.status),
    };
  }

  #note(outcome: Outcome, spans: number): void {
    if (outcome.isDelivered) {
      if (this.#lost === null) return;
      this.#notices.onRecovery(this.#lost);
      this.#lost = null;
    } else {
      if (this.#lost === null) this.#notices.onFailure(outcome.reason);
      this.#lost = (this.#lost ?? 0) + spans;
    }
  }
}
