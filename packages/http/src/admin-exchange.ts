/**
 * Passes a call by an administrator to the pipeline: the call is a member of the request's body, which has been read
 * already. The exchange hides the administrator's address and web origin, because policies check those of the client.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import { APPROVAL_HEADER } from '@erp-proxy/contract';
import type { Exchange } from '@erp-proxy/gateway/terms';
import { NodeResponse } from '@erp-proxy/wire/server';
import { HttpAnswerWriter } from './answer-writer.ts';
import { chooseEncoding } from './encoding.ts';

/** The request headers that apply to the call. `prefer` follows from the body. */
const HEADERS = new Set(['idempotency-key', APPROVAL_HEADER, 'x-request-timeout', 'traceparent']);

export interface AdminExchangeOptions {
  requestId: string;
  /** The body of the execute call. */
  call: Uint8Array;
  areValuesNormalized: boolean;
}

export class AdminExchange implements Exchange {
  readonly requestId: string;
  readonly address = null;
  readonly writer: AnswerWriter;
  readonly #request: IncomingMessage;
  readonly #response: NodeResponse;
  readonly #call: Uint8Array;
  readonly #areValuesNormalized: boolean;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { requestId, call, areValuesNormalized }: AdminExchangeOptions,
  ) {
    this.#request = request;
    this.#response = new NodeResponse(request, response);
    this.#call = call;
    this.#areValuesNormalized = areValuesNormalized;
    this.requestId = requestId;
    this.writer = new HttpAnswerWriter(this.#response, {
      requestId,
      origin: undefined,
      encoding: chooseEncoding(request.headers['accept-encoding']),
    });
  }

  header(name: string): string | undefined {
    if (name === 'prefer') return this.#areValuesNormalized ? 'values=normalized' : undefined;
    return HEADERS.has(name) ? this.#request.headersDistinct[name]?.join(', ') : undefined;
  }

  countHeader(name: string): number {
    return this.#request.headersDistinct[name]?.length ?? 0;
  }

  onCallerLeft(listener: () => void): void {
    this.#response.onClientLeft(listener);
  }

  async readBody(): Promise<Uint8Array> {
    return this.#call;
  }

  releaseBody(): void {}

  waitUntilLeft(): Promise<void> {
    return this.#response.waitUntilAnswered();
  }
}
