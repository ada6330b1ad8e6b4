/**
 * Writes the answer to a call as a response, compressed if the client accepts that and the answer is large enough.
 * Knows nothing of calls.
 */
import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import type { HttpResponse } from '@erp-proxy/wire/server';
import type { FastifyInstance } from 'fastify';
import { createEncoder, ENCODED_BYTES_MIN, type Encoding, encodeWhole } from './encoding.ts';

/** The properties of the request that the writer needs. */
export interface AnsweredRequest {
  requestId: string;
  /** Origin of the page that sent the call; undefined if the caller is not a browser. */
  origin: string | undefined;
  /** Null if the answer must not be compressed. */
  encoding: Encoding | null;
}

export class HttpAnswerWriter implements AnswerWriter {
  readonly isHeldBack = false;
  readonly #response: HttpResponse;
  readonly #request: AnsweredRequest;
  #encoder: ReturnType<typeof createEncoder> | null = null;
  #isBegun = false;

  constructor(response: HttpResponse, request: AnsweredRequest) {
    this.#response = response;
    this.#request = request;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.#isBegun = true;
    const encoding = this.#chooseEncoding(headers);
    if (encoding === null || body.length < ENCODED_BYTES_MIN) {
      this.#response.sendWhole(status, this.#describe(headers), body);
      return;
    }
    encodeWhole(encoding, body).then(
      (encoded) => {
        const described = this.#describe(headers);
        this.#response.sendWhole(status, { ...described, 'content-encoding': encoding }, encoded);
      },
      () => this.breakOff(),
    );
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#isBegun = true;
    const encoding = this.#chooseEncoding(headers);
    const described = this.#describe(headers);
    if (encoding === null) {
      this.#response.begin(status, described, lengthBytes);
      return;
    }
    this.#response.begin(status, { ...described, 'content-encoding': encoding }, null);
    this.#encoder = this.#startEncoder(encoding);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    const encoder = this.#encoder;
    if (encoder === null) return this.#response.write(piece);
    if (encoder.destroyed || encoder.write(piece)) return undefined;
    return new Promise((resolve) => {
      const settle = () => {
        encoder.off('drain', settle);
        encoder.off('close', settle);
        resolve();
      };
      encoder.on('drain', settle);
      encoder.on('close', settle);
    });
  }

  end(): void {
    if (this.#encoder === null) this.#response.end();
    else this.#encoder.end();
  }

  restart(): boolean {
    return !this.#isBegun;
  }

  breakOff(): void {
    this.#encoder?.destroy();
    this.#response.breakOff();
  }

  #startEncoder(encoding: Encoding): ReturnType<typeof createEncoder> {
    const encoder = createEncoder(encoding);
    encoder.on('error', () => this.breakOff());
    encoder.on('data', (piece: Buffer) => {
      const drained = this.#response.write(piece);
      if (drained === undefined) return;
      encoder.pause();
      void drained.then(() => encoder.resume());
    });
    encoder.on('end', () => this.#response.end());
    return encoder;
  }

  /** Null if the answer is not compressed, for example because of `no-transform` (RFC 9111 section 5.2.2.6). */
  #chooseEncoding(headers: AnswerHeaders): Encoding | null {
    return headers['cache-control']?.includes('no-transform') ? null : this.#request.encoding;
  }

  #describe(headers: AnswerHeaders): AnswerHeaders {
    return { ...describeAnswer(this.#request.origin, this.#request.requestId), ...headers };
  }
}

/** Headers of every answer to a call. `origin` is the origin of the page that sent the call. */
export function describeAnswer(origin: string | undefined, requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    'x-request-id': requestId,
    ...describeCors(origin),
  };
}

/** Request headers that the routes read and for which a page needs a preflight. */
const ALLOWED_HEADERS =
  'apikey, authorization, cache-control, content-type, idempotency-key, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, prefer, traceparent, x-api-key, x-approval, x-erp-call, x-proxy-api, x-request-id, x-request-timeout';
const EXPOSED_HEADERS =
  'accept-ranges, age, content-disposition, content-range, erp-proxy-limit, idempotency-replayed, location, mcp-session-id, preference-applied, ratelimit, ratelimit-policy, retry-after, server-timing, www-authenticate, x-request-id';
/** Longer than the maximum of any browser. */
const MAX_AGE_SECONDS = '86400';

/**
 * CORS headers (the Fetch standard) of an answer to a page of this origin; none if the caller is not a browser. Any web
 * page may read the answers of the routes of calls, and of some routes that need no key. Which pages may use a key is
 * enforced by the policy of the key (`cors_origins`), not by the browser; no page may use a key without a policy.
 */
export function describeCors(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'accept-encoding, origin',
  };
}

/**
 * Answers preflights. A preflight carries no key, so it always succeeds. An `OPTIONS` request that is not a preflight
 * gets 405, like any other method that the route does not take.
 */
export function addPreflight(
  app: FastifyInstance,
  path: string,
  method: 'GET' | 'POST' | 'GET, DELETE' = 'POST',
): void {
  app.options(path, (request, reply) => {
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (origin === undefined || asked === undefined) return reply.callNotFound();
    return reply
      .code(204)
      .headers({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': method,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
        vary: 'origin',
      })
      .send();
  });
}
