/** Adapts a plain call to the pipeline: address, headers, body, and the writer of the answer. */

import { isLarge } from '@erp-proxy/async/shared-bytes';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import type { Denial, Exchange } from '@erp-proxy/gateway/terms';
import type { PlainCall } from '@erp-proxy/wire/server';
import { HttpAnswerWriter } from './answer-writer.ts';
import { type BodyBudget, BodyRoom, denyBody, denyBodyFailure } from './body.ts';
import { chooseEncoding } from './encoding.ts';
import { chooseRequestId } from './forwarded.ts';

export interface PlainExchangeOptions {
  /** The caller's address, behind trusted reverse proxies. */
  address: string;
  bodyBytesMax: number;
  bodyBudget: BodyBudget;
}

export class PlainExchange implements Exchange {
  readonly requestId: string;
  readonly address: string;
  readonly writer: AnswerWriter;
  readonly #call: PlainCall;
  readonly #bodyBytesMax: number;
  readonly #room: BodyRoom;

  constructor(call: PlainCall, { address, bodyBytesMax, bodyBudget }: PlainExchangeOptions) {
    this.#call = call;
    this.#bodyBytesMax = bodyBytesMax;
    this.#room = new BodyRoom(bodyBudget);
    this.address = address;
    const { headers } = call;
    this.requestId = chooseRequestId(headers.get('x-request-id'));
    call.owner = this.requestId;
    this.writer = new HttpAnswerWriter(call, {
      requestId: this.requestId,
      origin: headers.get('origin'),
      encoding: chooseEncoding(headers.get('accept-encoding')),
    });
  }

  header(name: string): string | undefined {
    return this.#call.headers.get(name);
  }

  countHeader(name: string): number {
    return this.#call.headers.has(name) ? 1 : 0;
  }

  onCallerLeft(listener: () => void): void {
    this.#call.onClientLeft(listener);
  }

  async readBody(signal: AbortSignal, kind?: 'json' | 'bytes'): Promise<Uint8Array | Denial> {
    const { headers, bodyBytes } = this.#call;
    const denial = denyBody(
      {
        contentType: headers.get('content-type'),
        contentEncoding: headers.get('content-encoding'),
        contentLength: bodyBytes,
      },
      this.#bodyBytesMax,
      kind,
    );
    if (denial !== null) return denial;
    if (isLarge({ length: bodyBytes }) && !(await this.#room.take(bodyBytes, signal)))
      return denyBodyFailure(signal.aborted ? 'incomplete' : 'no_room');
    const reading = this.#call.readBody(signal);
    // Most bodies have arrived already, and an `await` costs a turn of the queue of promises.
    const body = reading instanceof Promise ? await reading : reading;
    return typeof body === 'string' ? denyBodyFailure(body) : body;
  }

  releaseBody(): void {
    this.#room.release();
  }

  waitUntilLeft(): Promise<void> {
    return this.#call.waitUntilAnswered();
  }
}
