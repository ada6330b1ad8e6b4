/** The exchange of calls that no request asks for: it has no caller, no headers and no body, and is not answered. */
import { AnswerCollector } from '@erp-proxy/async/streams';
import { Denial } from './denial.ts';
import type { Exchange } from './exchange.ts';

export class BackgroundExchange implements Exchange {
  /** Ties the records of its calls together. */
  readonly requestId: string;
  readonly address = null;
  readonly writer = new AnswerCollector(0);

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  header(): undefined {}

  countHeader(): number {
    return 0;
  }

  onCallerLeft(): void {}

  async readBody(): Promise<Denial> {
    return new Denial('invalid_request', 'There is no body.');
  }

  releaseBody(): void {}

  async waitUntilLeft(): Promise<void> {}
}
