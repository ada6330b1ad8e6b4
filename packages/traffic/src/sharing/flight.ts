/**
 * One call whose reply goes to several callers, its members. A member can leave at any time; the call is aborted when
 * the last one leaves. Knows calls and members only by these interfaces.
 */

import type { ByteStream } from '@erp-proxy/async/streams';
import { FanOut, type FanOutLimits } from './fan-out.ts';

/** A caller that waits for the reply. */
export interface Member {
  readonly signal: AbortSignal;
}

/** A running call, as its owner implements it. */
export interface SharedCall<Reply, AnyMember> {
  reply: Promise<Reply>;
  /** Whether this member may join the call now. */
  accepts(member: AnyMember): boolean;
  /** Called when a member has joined. Extends the time limit of the call if the member allows more time. */
  extend(member: AnyMember): void;
  /** The reply for a member that leaves while others still wait. */
  denyLeaver(member: AnyMember): Reply;
  /** Called when the last member leaves. The aborted call then ends with a reply, which this member gets. */
  abort(last: AnyMember): void;
}

export interface FlightOptions<Result, Denied> {
  isResult(reply: Result | Denied): reply is Result;
  limits: FanOutLimits;
}

interface Waiter<Reply, AnyMember> {
  member: AnyMember;
  reply: PromiseWithResolvers<Reply>;
  stopListening(): void;
}

export class Flight<Result extends StreamedResult, Denied, AnyMember extends Member> {
  readonly #call: SharedCall<Result | Denied, AnyMember>;
  readonly #options: FlightOptions<Result, Denied>;
  readonly #onClosed: () => void;
  readonly #waiters = new Set<Waiter<Result | Denied, AnyMember>>();
  #streamed: { result: Result; fanOut: FanOut } | null = null;

  /** `onClosed` is called at least once after members can no longer join. */
  constructor(
    call: SharedCall<Result | Denied, AnyMember>,
    options: FlightOptions<Result, Denied>,
    onClosed: () => void,
  ) {
    this.#call = call;
    this.#options = options;
    this.#onClosed = onClosed;
    call.reply.then(
      (reply) => this.#resolve(reply),
      (error) => this.#reject(error),
    );
  }

  accepts(member: AnyMember): boolean {
    return this.#call.accepts(member);
  }

  /** Adds a member and returns its reply. Must not be called once the flight is closed. */
  join(member: AnyMember): Promise<Result | Denied> {
    if (this.#streamed !== null) {
      const { result, fanOut } = this.#streamed;
      return Promise.resolve({ ...result, rest: fanOut.join(member.signal) });
    }
    const leave = () => this.#leave(waiter);
    const waiter: Waiter<Result | Denied, AnyMember> = {
      member,
      reply: Promise.withResolvers(),
      stopListening: () => member.signal.removeEventListener('abort', leave),
    };
    this.#waiters.add(waiter);
    this.#call.extend(member);
    member.signal.addEventListener('abort', leave);
    if (member.signal.aborted) leave();
    return waiter.reply.promise;
  }

  #leave(waiter: Waiter<Result | Denied, AnyMember>): void {
    if (!this.#waiters.has(waiter)) return;
    const { member, reply } = waiter;
    if (this.#waiters.size === 1) {
      // Closed first, because only this member may get the reply of the aborted call.
      this.#onClosed();
      this.#call.abort(member);
      return;
    }
    this.#waiters.delete(waiter);
    waiter.stopListening();
    reply.resolve(this.#call.denyLeaver(member));
  }

  #resolve(reply: Result | Denied): void {
    const { isResult, limits } = this.#options;
    if (isResult(reply) && reply.rest !== null) {
      const fanOut = new FanOut(reply.rest, limits, this.#onClosed);
      this.#streamed = { result: reply, fanOut };
      // All members join before the first of them reads.
      this.#settle(({ member, reply: { resolve } }) =>
        resolve({ ...reply, rest: fanOut.join(member.signal) }),
      );
    } else {
      this.#onClosed();
      this.#settle((waiter) => waiter.reply.resolve(reply));
    }
  }

  #reject(error: unknown): void {
    this.#onClosed();
    this.#settle((waiter) => waiter.reply.reject(error));
  }

  #settle(settle: (waiter: Waiter<Result | Denied, AnyMember>) => void): void {
    for (const waiter of this.#waiters) {
      waiter.stopListening();
      settle(waiter);
    }
    this.#waiters.clear();
  }
}

/** The part of a result that this folder needs: its bytes, of which some may not have arrived. */
export interface StreamedResult {
  pieces: Uint8Array[];
  /** The bytes after `pieces`; null if `pieces` are all. */
  rest: ByteStream | null;
  /** The byte with which `pieces` and `rest` must end; null if any is valid. */
  lastByte: number | null;
  /** Bytes to append after `pieces` and `rest`. */
  tail: Uint8Array;
}
