/** Calls whose caller does not wait (`prefer: respond-async`): they are stored as jobs, and run later. */
import type { Client } from '@erp-proxy/control/keys';
import type { Denial } from './denial.ts';
import type { Exchange } from './exchange.ts';
import type { DeferredReply } from './reply.ts';

/** How a call is deferred. */
export interface Deferral {
  /** The route that runs the job. */
  readonly route: string;
  /** What the caller wants to be told the end of the job by; null: nothing. */
  readonly callback: string | null;
  /** The body of the job; null: the call. */
  readonly bytes: Uint8Array | null;
}

/** A call that the policy of its client allows, as it is stored. */
export interface DeferredCall extends Deferral {
  readonly bytes: Uint8Array;
  readonly client: Client;
  /** The token of an identity provider by which the client was found; null: its key is stored. */
  readonly token: string | null;
  readonly exchange: Pick<Exchange, 'requestId' | 'address' | 'header'>;
  readonly idempotencyKey: string | null;
  readonly facts: DeferredFacts;
}

/** What operators may see of a call, and what tells later whether a policy allows it: the server, model and method. */
export interface DeferredFacts {
  /** Null: the call has brought its credentials. */
  readonly instance: string | null;
  /** The base address of the server. */
  readonly upstream: string;
  readonly db: string;
  readonly model: string;
  readonly action: string;
}

export interface Deferrals {
  /** Stores the call, or returns why not. Never rejects. */
  defer(call: DeferredCall): Promise<DeferredReply | Denial>;
}

/** The mark in the store of a job that one of its writes is sent: after it, another process must not run the job. */
export interface WriteMark {
  /** False: the write must not be sent. Rejects if the store fails. */
  set(): Promise<boolean>;
  /** Called if the write has surely not run. Never rejects. */
  clear(): Promise<void>;
}
