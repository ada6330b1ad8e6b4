/** What can be observed of the proxy: each fact is one method of `Events`; log and metrics are made of these. */

/** One call, after its end. Durations in milliseconds. */
export interface CallRecord {
  requestId: string;
  /** The client key's id; null where none was accepted. */
  keyId: string | null;
  /** Where the call came from. */
  address: string;
  /** Position in the batch; null for a single call. */
  batchIndex: number | null;
  /** The call's `id` as JSON text. */
  id: string;
  /** Name of the stored instance; null where the call brought address and credentials itself. */
  instance: string | null;
  /** Base address of the Odoo server, also of a call that was refused; null where it is not known. */
  upstream: string | null;
  db: string | null;
  model: string | null;
  method: string | null;
  /** `ok`, `replayed`, `data.type` of the error, or why the connection was broken off. */
  outcome: string;
  code: number | null;
  /** The rule of the key's policy that denied it. */
  rule: string | null;
  httpStatus: number;
  /** Which protocol carried the call to Odoo; null where nothing was sent. */
  protocol: 'jsonrpc' | 'json2' | null;
  upstreamStatus: number | null;
  /** How often the request was sent to Odoo. */
  attempts: number;
  /** Where the answer to a read came from that was not sent: the same read in flight, or one before it. Null: it was its own. */
  sharedFrom: 'flight' | 'cache' | null;
  totalMs: number;
  /** From sending to the head of the answer; null where nothing was sent. */
  upstreamMs: number | null;
  /** The cause of a failure, for the operator. */
  detail: string | null;
}

/** Why a call was sent to Odoo once more: what had come of sending it. */
export type RetryReason =
  /** Refused, or closed without an answer. */
  | 'connection'
  /** 502, 503 or 504. */
  | 'gateway'
  /** Rolled back for another transaction. */
  | 'conflict';

/** A request that was refused before a call could be read. */
export interface RefusalRecord {
  requestId: string;
  /** The client key's id; null where none was accepted. */
  keyId: string | null;
  address: string;
  outcome: string;
  /** The rule of the key's policy that denied it. */
  rule: string | null;
  /** The key that was not accepted, where there was one in the form of a key. */
  refusedKey: RefusedKey | null;
  httpStatus: number;
  detail: string | null;
}

export interface RefusedKey {
  /** The id in the key's text. */
  id: string;
  /** `unknown`: no key has the id, or the secret is another one. */
  why: 'unknown' | 'expired' | 'revoked';
}

export interface Events {
  requestStarted(): void;
  requestEnded(): void;
  callRetried(reason: RetryReason): void;
  callEnded(record: CallRecord): void;
  requestRefused(record: RefusalRecord): void;
  /** So many more requests were refused unread, since the processor has no time for them. */
  requestsShed(count: number): void;
  /** A fault of our own; the error goes to the log only. */
  faultSeen(requestId: string, error: unknown): void;
}

/** One `Events` that tells several. */
export function combineEvents(all: readonly Events[]): Events {
  return {
    requestStarted() {
      for (const events of all) events.requestStarted();
    },
    requestEnded() {
      for (const events of all) events.requestEnded();
    },
    callRetried(reason) {
      for (const events of all) events.callRetried(reason);
    },
    callEnded(record) {
      for (const events of all) events.callEnded(record);
    },
    requestRefused(record) {
      for (const events of all) events.requestRefused(record);
    },
    requestsShed(count) {
      for (const events of all) events.requestsShed(count);
    },
    faultSeen(requestId, error) {
      for (const events of all) events.faultSeen(requestId, error);
    },
  };
}
