/** What is known of a request once its body is there. Its calls only read it; `time` alone changes. */
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { RequestTime } from './request-time.ts';

export interface Request {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly time: RequestTime;
  /** When the request began, by the monotonic clock. */
  readonly startedMs: number;
  readonly isBatch: boolean;
  /** Text of the header `idempotency-key`; null if there is none. */
  readonly idempotencyKey: string | null;
}
