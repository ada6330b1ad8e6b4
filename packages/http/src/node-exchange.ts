/** Adapts a request of Node's HTTP server to the pipeline: address, headers, body, and the writer of the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import type { Denial, Exchange } from '@erp-proxy/gateway/terms';
import { NodeResponse } from '@erp-proxy/wire/server';
import { HttpAnswerWriter } from './answer-writer.ts';
import { type BodyBudget, BodyRoom } from './body.ts';
import { chooseEncoding } from './encoding.ts';
import { readRequestId } from './forwarded.ts';
import { readNodeBody } from './node-body.ts';

export interface NodeExchangeOptions {
  address: string;
  bodyBytesMax: number;
  bodyBudget: BodyBudget;
}

export class NodeExchange implements Exchange {
  readonly requestId: string;
  readonly address: string;
  readonly writer: AnswerWriter;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #answer: NodeResponse;
  readonly #bodyBytesMax: number;
  readonly #room: BodyRoom;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { address, bodyBytesMax, bodyBudget }: NodeExchangeOptions,
  ) {
    this.#request = request;
    this.#response = response;
    this.#answer = new NodeResponse(request, response);
    this.#bodyBytesMax = bodyBytesMax;
    this.#room = new BodyRoom(bodyBudget);
    this.address = address;
    this.requestId = readRequestId(request.headers);
    this.writer = new HttpAnswerWriter(this.#answer, {
      requestId: this.requestId,
      origin: request.headers.origin,
      encoding: chooseEncoding(this.header('accept-encoding')),
    });
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  countHeader(name: string): number {
    return this.#request.headersDistinct[name]?.length ?? 0;
  }

  onCallerLeft(listener: () => void): void {
    this.#answer.onClientLeft(listener);
  }

  async readBody(signal: AbortSignal, kind?: 'json' | 'bytes'): Promise<Uint8Array | Denial> {
    const takeRoom = (bytes: number) => this.#room.take(bytes, signal);
    const options = { bytesMax: this.#bodyBytesMax, takeRoom, signal, kind };
    return readNodeBody(this.#request, this.#response, options);
  }

  releaseBody(): void {
    this.#room.release();
  }

  waitUntilLeft(): Promise<void> {
    return this.#answer.waitUntilAnswered();
  }
}
