/**
 * The answer to a request that the load shedder refuses. For one route it varies only in request id and CORS headers.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { buildErrorAnswer, describeDenial, listDenialHeaders } from '../../execute/request/envelope.ts';
import { Denial } from '../../execute/terms/denial.ts';
import type { Dialect } from '../../execute/terms/dialect.ts';
import { NULL_ID } from '../../execute/terms/parsed-body.ts';
import { describeAnswer, HttpAnswerWriter } from '../http-answer-writer.ts';
import { chooseRequestId, readRequestId } from '../request-id.ts';
import type { PlainRequest } from './plain-request.ts';

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
    const writer = new HttpAnswerWriter(request, response, readRequestId(request.headers), null);
    writer.sendWhole(this.#status, this.#headers, this.#body);
  }

  /** The whole HTTP answer to a request that Node's HTTP has not parsed, as Latin-1 text. */
  print(request: PlainRequest, keepAliveMs: number): string {
    const headers: Record<string, string | number> = {
      ...describeAnswer(request.origin, chooseRequestId(request.requestId)),
      ...this.#headers,
      'content-length': this.#body.length,
      date: new Date().toUTCString(),
      ...(request.closes
        ? { connection: 'close' }
        : { connection: 'keep-alive', 'keep-alive': `timeout=${Math.floor(keepAliveMs / 1000)}` }),
    };
    let text = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status]}\r\n`;
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
    return `${text}\r\n${this.#body.toString('latin1')}`;
  }
}
