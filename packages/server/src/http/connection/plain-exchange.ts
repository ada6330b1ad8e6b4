/** Adapts a plain request to the pipeline: address, headers, body, and the writer of the answer. */

import { isLarge } from '@erp-proxy/async/shared-bytes';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import type { Denial } from '../../execute/terms/denial.ts';
import type { Exchange } from '../../execute/terms/exchange.ts';
import { HttpAnswerWriter } from '../answer-writer.ts';
import { denyBody, INCOMPLETE_BODY, NO_ROOM } from '../body.ts';
import { type BodyBudget, BodyRoom } from '../body-budget.ts';
import { chooseEncoding } from '../encoding.ts';
import { chooseRequestId } from '../request-id.ts';
import type { PlainRequest } from './plain-request.ts';
import { PlainResponse, type ResponseConnection } from './plain-response.ts';

/** The connection of an exchange. */
export interface ExchangeConnection extends ResponseConnection {
  /** Reads the whole body of the request, or returns why it does not arrive. Called once. */
  readBody(signal: AbortSignal): Uint8Array | Denial | Promise<Uint8Array | Denial>;
}

export interface PlainExchangeOptions {
  address: string;
  bodyBytesMax: number;
  bodyBudget: BodyBudget;
}

export class PlainExchange implements Exchange {
  readonly requestId: string;
  readonly address: string;
  readonly writer: AnswerWriter;
  readonly #connection: ExchangeConnection;
  readonly #request: PlainRequest;
  readonly #bodyBytesMax: number;
  readonly #room: BodyRoom;
  #state: 'running' | 'answered' | 'closed' = 'running';
  readonly #onCallerLeft: (() => void)[] = [];
  #resolveLeft: (() => void) | null = null;

  constructor(
    connection: ExchangeConnection,
    request: PlainRequest,
    { address, bodyBytesMax, bodyBudget }: PlainExchangeOptions,
  ) {
    this.#connection = connection;
    this.#request = request;
    this.#bodyBytesMax = bodyBytesMax;
    this.#room = new BodyRoom(bodyBudget);
    this.address = address;
    const { headers } = request;
    this.requestId = chooseRequestId(headers.get('x-request-id'));
    this.writer = new HttpAnswerWriter(new PlainResponse(connection), {
      requestId: this.requestId,
      origin: headers.get('origin'),
      encoding: chooseEncoding(headers.get('accept-encoding')),
    });
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name);
  }

  countHeader(name: string): number {
    return this.#request.headers.has(name) ? 1 : 0;
  }

  onCallerLeft(listener: () => void): void {
    if (this.#state === 'closed') listener();
    else this.#onCallerLeft.push(listener);
  }

  async readBody(signal: AbortSignal, kind?: 'json' | 'bytes'): Promise<Uint8Array | Denial> {
    const { headers, bodyBytes } = this.#request;
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
      return signal.aborted ? INCOMPLETE_BODY : NO_ROOM;
    return this.#connection.readBody(signal);
  }

  releaseBody(): void {
    this.#room.release();
  }

  waitUntilLeft(): Promise<void> {
    if (this.#state !== 'running') return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  /** Called by the connection when the last byte of the answer was sent. */
  onAnswered(): void {
    this.#leave('answered');
  }

  /** Called by the connection when it has closed before that. */
  onClosed(): void {
    this.#leave('closed');
    for (const listener of this.#onCallerLeft) listener();
  }

  #leave(state: 'answered' | 'closed'): void {
    this.#state = state;
    this.#resolveLeft?.();
  }
}
