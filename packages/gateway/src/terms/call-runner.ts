/**
 * A request whose calls are made while it is answered. It was admitted and its key checked; each call then passes the
 * steps of its operation, and counts for the limits of the key.
 */

import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import type { DataRoute } from '@erp-proxy/contract';
import type { Client } from '@erp-proxy/control/keys';
import type { CallTerms } from './call-context.ts';
import type { Deferral } from './deferral.ts';
import type { Denial } from './denial.ts';
import type { Exchange } from './exchange.ts';
import type { FoundTypes } from './field-finder.ts';

export interface CallRunner {
  readonly client: Client;
  /** The body of the request. */
  readonly bytes: Uint8Array;
  readonly exchange: Exchange;
  /** Aborted when the request ends early. */
  readonly signal: AbortSignal;
  /** Text of the header `idempotency-key`; null if there is none. It applies to no call by itself. */
  readonly idempotencyKey: string | null;
  /** How the request is stored to run later, with the call that says whether it may; null: its caller waits. */
  readonly deferral: Deferral | null;
  /** True if values of results are normalized (docs/values.md). */
  readonly areValuesNormalized: boolean;
  /** Starts the time limit of the request anew: for answers that take many calls, each of which has the limit. */
  renewTime(): void;
  /** Stops the time limit until it is renewed: for waits that have a bound of their own. */
  pauseTime(): void;
  /** True once a graceful stop has begun: an answer without an end of its own should end now. */
  isStopping(): boolean;
  /**
   * Admits a part of the request that keeps records in memory, by the limits for requests of this route. Returns the
   * function that must be called at its end; null if nothing bounds the route.
   */
  admitData(route: DataRoute): (() => void) | Denial | null;
  /** Answers the request with a denial and the `id` of its body. */
  refuse(denial: Denial, id: Uint8Array): void;
  /** Headers that the answer must have. */
  describe(): AnswerHeaders;
  /**
   * Runs one call, given as the body of the operation. Resolves when its answer is written, or to the denial of a call
   * that was not run. Calls run one after the other, in the order in which they are made: the request has one place
   * within the concurrency of its key.
   */
  run(call: Uint8Array, writer: AnswerWriter, options?: RunOptions): Promise<Denial | null>;
  /**
   * Decides about a call without its server, and sends nothing. Returns why the call would be refused, or headers for
   * an answer to several such calls.
   */
  decide(call: Uint8Array): Promise<Denial | AnswerHeaders>;
  /**
   * Acquires room for up to `wanted` calls at once within the concurrency of the key. Returns the number that may run
   * at once, 1 or more. The end of the request gives it back.
   */
  acquireConcurrency(wanted: number): Promise<number>;
  /** Starts a part of the request, whose calls run beside those of other parts. */
  startPart(): RunnerPart;
  /**
   * Finds the types of the fields of the model of a call, which is not sent. `names`: fields that it names. Null if the
   * call is one that {@link run} refuses.
   */
  findFields(call: Uint8Array, names: readonly string[]): Promise<FoundTypes | null>;
}

/**
 * A part of a request: runs its calls one after the other, with a time limit of its own within that of the request.
 * {@link end} must be called after its last call.
 */
export interface RunnerPart extends CallRunner {
  end(): void;
}

/**
 * Terms of one call in place of those of its request. A retry with the same idempotency key may make other calls before
 * this one.
 */
export interface RunOptions extends Partial<CallTerms> {
  /** Replaces the header `traceparent` of the request, unless it is not valid. */
  traceparent?: string | undefined;
  /** Called before the answer is written. */
  onAnswer?(facts: AnswerFacts): void;
}

/** What is known of an answer beside what its caller gets. Times are in milliseconds. */
export interface AnswerFacts {
  /** By the monotonic clock; null if the call was not sent. */
  readonly sentMs: number | null;
  /** Mean answer time of the interactive calls to the database: 0 while unknown, null if there were none lately. */
  readonly interactiveMs: number | null;
  /** Header `date` of Odoo's answer; null if there was none. */
  readonly upstreamDate: string | null;
  /** The first field whose value is null in place of NaN or Infinity. Set up to the end of the answer. */
  readonly nullField: string | null;
}
