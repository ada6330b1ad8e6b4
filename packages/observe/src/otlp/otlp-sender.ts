/**
 * Sends encoded requests of OTLP over HTTP to a collector, by the egress dispatcher as all outgoing requests, and reads
 * what the collector says of them. Knows no signal but its name in the address.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { delay } from '@erp-proxy/async/tasks';
import { type EgressDispatcher, type EgressRequest, fetchWhole } from '@erp-proxy/egress';
import { readPairs } from './read-pairs.ts';

export interface OtlpOptions {
  /** URL of the collector for traces. A URL without a path gets `/v1/traces`; see `addressSignal`. */
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

export type Signal = 'traces' | 'logs' | 'metrics';

/** `isRetried`: another attempt may succeed. `isPartial`: the collector has taken a part of the request. */
export type Outcome =
  | { isDelivered: true }
  | { isDelivered: false; reason: string; isRetried: boolean; isPartial?: true };

/** Reads the answer of a collector. Throws if it is no answer of OTLP. */
export type ReadAnswer = (bytes: Uint8Array, isJson: boolean) => { rejected: number };

const compress = promisify(gzip);
/**
 * Maximum size of an answer. A collector usually sends some bytes. A longer answer is not read, which closes its
 * connection.
 */
const ANSWER_BYTES_MAX = 64 * 1024;
const FIRST_RETRY_MS = 500;
/** Status codes after which OTLP asks for a retry. */
const RETRIED = new Set([429, 502, 503, 504]);
const PROTOBUF_TYPE = /^application\/(x-)?protobuf\b/;
const TRACES_PATH = '/v1/traces';

/** The URL for a signal; null if the path of the endpoint does not tell it. */
function addressSignal(endpoint: string, signal: Signal): URL | null {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  if (signal === 'traces') return url;
  if (!url.pathname.endsWith(TRACES_PATH)) return null;
  url.pathname = `${url.pathname.slice(0, -TRACES_PATH.length)}/v1/${signal}`;
  return url;
}

export class OtlpSender {
  readonly #options: OtlpOptions;
  readonly #signal: Signal;
  readonly #egress: EgressDispatcher;
  readonly #readAnswer: ReadAnswer;
  readonly #aborted = new AbortController();
  #head: Omit<EgressRequest, 'body'>;

  constructor(options: OtlpOptions, signal: Signal, egress: EgressDispatcher, readAnswer: ReadAnswer) {
    this.#options = options;
    this.#signal = signal;
    this.#egress = egress;
    this.#readAnswer = readAnswer;
    this.#head = createHead(options, signal, options.headers);
  }

  /** Uses these headers for further requests. */
  useHeaders(headers: readonly string[]): void {
    this.#head = createHead(this.#options, this.#signal, headers);
  }

  /** Ends running requests. */
  abort(): void {
    this.#aborted.abort();
  }

  /** Sends the request until it is delivered, refused, or its time is over. */
  async deliver(plain: Uint8Array): Promise<Outcome> {
    const { compression, timeoutMs } = this.#options;
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
    const { status } = answer;
    if (status < 200 || status >= 300) {
      const reason = `the collector answered ${status}`;
      return { isDelivered: false, reason, isRetried: RETRIED.has(status) };
    }
    return this.#readOutcome(answer.body, String(answer.headers['content-type'] ?? ''));
  }

  /** A collector can answer 200 and have refused a part of the request, or be no collector. */
  #readOutcome(bytes: Uint8Array, type: string): Outcome {
    if (bytes.length === 0) return { isDelivered: true };
    const isJson = type.startsWith('application/json');
    try {
      if (!isJson && !PROTOBUF_TYPE.test(type)) throw new TypeError('it has another type');
      // The decoder of the SDK takes a text that is no JSON for an empty answer.
      if (isJson) JSON.parse(Buffer.from(bytes).toString());
      const { rejected } = this.#readAnswer(bytes, isJson);
      if (rejected === 0) return { isDelivered: true };
      // The message of the collector is left out, because it may quote what was sent.
      const reason = `the collector rejected ${rejected} items`;
      return { isDelivered: false, reason, isRetried: false, isPartial: true };
    } catch {
      return { isDelivered: false, reason: 'the answer is not one of a collector', isRetried: false };
    }
  }
}

function createHead(
  options: OtlpOptions,
  signal: Signal,
  headers: readonly string[],
): Omit<EgressRequest, 'body'> {
  const url = addressSignal(options.endpoint, signal);
  if (url === null) throw new Error(`the endpoint has no address for ${signal}`);
  return {
    method: 'POST',
    origin: url.origin,
    path: url.pathname,
    headers: {
      ...Object.fromEntries(readPairs(headers).map(([name, value]) => [name.toLowerCase(), value])),
      'content-type': options.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
      ...(options.compression === 'gzip' ? { 'content-encoding': 'gzip' } : null),
    },
    // The operator chooses the collector, which usually is in the same network.
    trust: { id: 'otel.endpoint', certificates: null, isAllowed: true },
  };
}
