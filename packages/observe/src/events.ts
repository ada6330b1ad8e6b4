/** The events of the proxy, from which log, metrics and audit are derived. */
import type { ActorView, CallSource } from '@erp-proxy/contract';

/** One call, after its end. Durations are in milliseconds. */
export interface CallRecord {
  requestId: string;
  /** Id of the client key; null if none was accepted. */
  keyId: string | null;
  /** Id of the client, which stays the same when its key is rotated; null if no key was accepted. */
  clientId: string | null;
  /** Address of the caller; null: the proxy itself. */
  address: string | null;
  /** Position in the batch; null for a single call. */
  batchIndex: number | null;
  /** The call's `id` as JSON text. */
  id: string;
  /** Name of the stored instance; null if the call brought address and credentials itself. */
  instance: string | null;
  /** Base address of the Odoo server, also if the call was refused; null if it is not known. */
  upstream: string | null;
  db: string | null;
  model: string | null;
  method: string | null;
  /** `ok`, `replayed`, `deferred`, `data.type` of the error, or the reason why the connection was closed early. */
  outcome: string;
  code: number | null;
  /** The rule of the key's policy that denied the call or request; null if none did. */
  rule: string | null;
  /** Id of the approval that the call asked for or used; null if it needed none. */
  approval: string | null;
  /** The part of the proxy that made the call; null: its caller. */
  via: CallSource | null;
  /** The administrator who made the call; otherwise absent. */
  actor?: ActorView;
  /** `<issuer>/<subject>` of the person whose connection the call used, and its login in Odoo; otherwise absent. */
  person?: string;
  odooLogin?: string;
  /** Id of the trace: that of the caller, or a recorded one that began here; otherwise absent. */
  traceId?: string;
  httpStatus: number;
  /** The protocol in which the call was sent to Odoo; null if it was not sent. */
  protocol: 'jsonrpc' | 'json2' | null;
  upstreamStatus: number | null;
  /** Number of times that the call was sent to Odoo. */
  attempts: number;
  /**
   * Source of the answer of a read that was not sent: an equal read in flight, or the cache of kept answers. Otherwise
   * null.
   */
  sharedFrom: 'flight' | 'cache' | null;
  totalMs: number;
  /** Time from sending the call to the head of the answer; null if the call was not sent. */
  upstreamMs: number | null;
  /** The cause of a failure, for the operator. */
  detail: string | null;
}

/** Reason why a call was sent to Odoo again. */
export type RetryReason =
  /** The connection was refused, or closed without an answer. */
  | 'connection'
  /** A gateway answered 502, 503 or 504. */
  | 'gateway'
  /** Odoo rolled the call back because of a concurrent transaction. */
  | 'conflict';

/** A request that was refused before its body was parsed into calls. */
export interface RefusalRecord {
  requestId: string;
  /** Id of the client key; null if none was accepted. */
  keyId: string | null;
  /** Id of the client, which stays the same when its key is rotated; null if no key was accepted. */
  clientId: string | null;
  address: string | null;
  outcome: string;
  /** The rule of the key's policy that denied the call or request; null if none did. */
  rule: string | null;
  /** The refused key; null if the request had no text in the format of a key. */
  refusedKey: RefusedKey | null;
  /** The administrator who made the request; otherwise absent. */
  actor?: ActorView;
  httpStatus: number;
  detail: string | null;
}

export interface RefusedKey {
  /** The id in the text of the key, or the id of the client of a token whose signature is valid. */
  id: string;
  /** `unknown`: no key has the id, or the secret is wrong. `no_policy` and `insufficient_scope` are for tokens only. */
  why: 'unknown' | 'expired' | 'revoked' | 'no_policy' | 'insufficient_scope';
}

/** A client key that expires soon, or has expired. */
export interface KeyNotice {
  kind: 'expiring' | 'expired';
  keyId: string;
  clientId: string;
  name: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** One attempt to send a delivery of a subscription to its webhook. */
export interface DeliveryEvent {
  /** Name of the subscription. */
  subscription: string;
  /** The `webhook-id`. */
  delivery: string;
  type: string;
  /**
   * `retried`: the receiver did not take the delivery, which is sent again later. `failed`: the delivery is given up.
   */
  outcome: 'delivered' | 'retried' | 'failed';
  /** Number of the attempt, from 1. */
  attempt: number;
  /** HTTP status of the answer; null if there was none. */
  status: number | null;
  failure: string | null;
  durationMs: number;
}

/** The proxy has disabled or paused a subscription, or its changes cannot be read. */
export interface SubscriptionTrouble {
  /** Name of the subscription. */
  subscription: string;
  kind: 'disabled' | 'paused' | 'unreadable';
  reason: string;
}

/** An export, after its end, if its answer had begun. Each of its pages is a call with its own record. */
export interface ExportRecord {
  requestId: string;
  keyId: string;
  model: string;
  format: 'ndjson' | 'csv';
  /** Numbers of records and bytes that were sent to the caller. */
  records: number;
  bytes: number;
  totalMs: number;
  /** The first field that has null in place of NaN or Infinity; null: none. */
  nullField: string | null;
  /** Reason why the export was cut off; null: it is complete. */
  problem: string | null;
}

/** A job, after its end. Each of its calls has its own record. */
export interface JobRecord {
  /** Id of the request that asked for it. */
  requestId: string;
  keyId: string;
  /** Id of the job. */
  job: string;
  route: string;
  model: string;
  action: string;
  state: 'done' | 'failed' | 'unknown' | 'cancelled';
  /** `data.type` of its error; null: none. */
  error: string | null;
  /** Bytes of the result. */
  bytes: number;
  /** Time before its last attempt began, and time of this attempt. */
  waitedMs: number;
  totalMs: number;
}

/** Everything that can be observed, one method for each kind of event. */
export interface Events {
  requestStarted(): void;
  requestEnded(): void;
  callRetried(reason: RetryReason): void;
  callEnded(record: CallRecord): void;
  requestRefused(record: RefusalRecord): void;
  /** This number of further requests was refused unread, for lack of processor time. */
  requestsShed(count: number): void;
  /** This number of client connections was closed unread, because too many are open. */
  connectionsRefused(count: number): void;
  exportEnded(record: ExportRecord): void;
  jobEnded(record: JobRecord): void;
  /** Called once for each notice, in one of the processes that share the store. */
  keyNoticed(notice: KeyNotice): void;
  deliveryEnded(event: DeliveryEvent): void;
  subscriptionTroubled(trouble: SubscriptionTrouble): void;
  /** An internal error of the proxy. Only the log gets the error itself. */
  faultSeen(requestId: string, error: unknown): void;
}

/** The events that one observer handles. */
export type EventHandlers = Partial<Events>;

/** Passes each event on to all observers that handle it. */
export function combineEvents(observers: readonly EventHandlers[]): Events {
  return {
    requestStarted() {
      for (const observer of observers) observer.requestStarted?.();
    },
    requestEnded() {
      for (const observer of observers) observer.requestEnded?.();
    },
    callRetried(reason) {
      for (const observer of observers) observer.callRetried?.(reason);
    },
    callEnded(record) {
      for (const observer of observers) observer.callEnded?.(record);
    },
    requestRefused(record) {
      for (const observer of observers) observer.requestRefused?.(record);
    },
    requestsShed(count) {
      for (const observer of observers) observer.requestsShed?.(count);
    },
    connectionsRefused(count) {
      for (const observer of observers) observer.connectionsRefused?.(count);
    },
    exportEnded(record) {
      for (const observer of observers) observer.exportEnded?.(record);
    },
    jobEnded(record) {
      for (const observer of observers) observer.jobEnded?.(record);
    },
    keyNoticed(notice) {
      for (const observer of observers) observer.keyNoticed?.(notice);
    },
    deliveryEnded(event) {
      for (const observer of observers) observer.deliveryEnded?.(event);
    },
    subscriptionTroubled(trouble) {
      for (const observer of observers) observer.subscriptionTroubled?.(trouble);
    },
    faultSeen(requestId, error) {
      for (const observer of observers) observer.faultSeen?.(requestId, error);
    },
  };
}
