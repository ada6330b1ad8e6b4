/** The exchange of calls that no request asks for: it has no caller, no headers and no body, and is not answered. */
import { AnswerCollector } from '@erp-proxy/async/streams';
import type { Exchange } from './exchange.ts';

export class BackgroundExchange implements Exchange {
  /** Ties the records of its calls together. */
  readonly requestId: string;
  readonly address = null;
  readonly writer = new AnswerCollector(0);
  readonly #signal: AbortSignal;
  #onAborted: () => void = () => {};

  /** The calls end as those of a caller who leaves, once the signal is aborted. */
  constructor(requestId: string, signal: AbortSignal) {
    this.requestId = requestId;
    this.#signal = signal;
  }

  header(): undefined {}

  countHeader(): number {
    return 0;
  }

  onCallerLeft(listener: () => void): void {
    this.#onAborted = listener;
    if (this.#signal.aborted) listener();
    else this.#signal.addEventListener('abort', listener);
  }

  async readBody(): Promise<Uint8Array> {
    return NO_BYTES;
  }

  releaseBody(): void {}

  async waitUntilLeft(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAborted);
  }
}

const NO_BYTES = Buffer.alloc(0);
