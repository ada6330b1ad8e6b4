/**
 * The answer to a request that the load shedder refuses. For one route it varies only in request id and CORS headers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildErrorAnswer, describeDenial, listDenialHeaders } from '@erp-proxy/gateway/request';
import { Denial, type Dialect, NULL_ID } from '@erp-proxy/gateway/terms';
import { NodeResponse, printResponseHead } from '@erp-proxy/wire/server';
import { describeAnswer, HttpAnswerWriter } from './answer-writer.ts';
import { chooseRequestId, readRequestId } from './forwarded.ts';

const DENIAL = new Denial(
  'overloaded',
  'The proxy has more requests than it can serve. Send the call again in 1 s; nothing of it was sent.',
  { outcome: 'not_sent', retryAfterSeconds: 1 },
);

export class OverloadAnswer {
  readonly #status: number;
  readonly #headers = listDenialHeaders(DENIAL);
  readonly #body: Buffer;

  constructor(dialect: Dialect) {
    const { httpStatus, error } = describeDenial(DENIAL, dialect);
    this.#status = httpStatus;
    this.#body = buildErrorAnswer(NULL_ID, error);
  }

  /** Answers a request that Node's HTTP has parsed. */
  send(request: IncomingMessage, response: ServerResponse): void {
    const writer = new HttpAnswerWriter(new NodeResponse(request, response), {
      requestId: readRequestId(request.headers),
      origin: request.headers.origin,
      encoding: null,
    });
    writer.sendWhole(this.#status, this.#headers, this.#body);
  }

  /**
   * The whole answer to a plain request, as Latin-1 text. `keepAlive` is null if the connection is closed after it.
   */
  print(headers: ReadonlyMap<string, string>, keepAlive: string | null): string {
    const requestId = chooseRequestId(headers.get('x-request-id'));
    const described = { ...describeAnswer(headers.get('origin'), requestId), ...this.#headers };
    const head = printResponseHead(this.#status, described, { lengthBytes: this.#body.length, keepAlive });
    return head + this.#body.toString('latin1');
  }
}
