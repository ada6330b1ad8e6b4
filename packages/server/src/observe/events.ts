/** What can be observed of the proxy: each fact is one method of `Events`; log and metrics are made of these. */

/** One call, after its end. Durations in milliseconds. */
export interface CallRecord {
  requestId: string;
  /** The client key's id; null where none was accepted. */
  keyId: string | null;
  /** Position in the batch; null for a single call. */
  batchIndex: number | null;
  /** The call's `id` as JSON text. */
  id: string;
  /** Base address of the Odoo server; null where the call did not get that far. */
  upstream: string | null;
  db: string | null;
  model: string | null;
  method: string | null;
  /** `ok`, `data.type` of the error, or why the connection was broken off. */
  outcome: string;
  code: number | null;
  httpStatus: number;
  /** Which protocol carried the call to Odoo; null where nothing was sent. */
  protocol: 'jsonrpc' | 'json2' | null;
  upstreamStatus: number | null;
  /** How often the request was sent to Odoo. */
  attempts: number;
  totalMs: number;
  /** From sending to the head of the answer; null where nothing was sent. */
  upstreamMs: number | null;
  /** The cause of a failure, for the operator. */
  detail: string | null;
}

/** A request that was refused before a call could be read. */
export interface RefusalRecord {
  requestId: string;
  /** The client key's id; null where none was accepted. */
  keyId: string | null;
  address: string;
  outcome: string;
  httpStatus: number;
  detail: string | null;
}

export interface Events {
  requestStarted(): void;
  requestEnded(): void;
  callEnded(record: CallRecord): void;
  requestRefused(record: RefusalRecord): void;
  /** A fault of our own; the error goes to the log only. */
  faultSeen(requestId: string, error: unknown): void;
}

/** One `Events` that tells two. */
export function combineEvents(first: Events, second: Events): Events {
  return {
    requestStarted() {
      first.requestStarted();
      second.requestStarted();
    },
    requestEnded() {
      first.requestEnded();
      second.requestEnded();
    },
    callEnded(record) {
      first.callEnded(record);
      second.callEnded(record);
    },
    requestRefused(record) {
      first.requestRefused(record);
      second.requestRefused(record);
    },
    faultSeen(requestId, error) {
      first.faultSeen(requestId, error);
      second.faultSeen(requestId, error);
    },
  };
}
