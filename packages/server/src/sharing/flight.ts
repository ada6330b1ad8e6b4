/**
 * One call to Odoo on behalf of all who ask the same while it runs, its members. Each leaves at its own time; the call ends
 * with the last of them. Knows neither what is asked nor what the members are.
 */
import { FanOut, type FanOutLimits } from './fan-out.ts';
import type { StreamedResult } from './result.ts';

/** One who waits for the reply. */
export interface Member {
  readonly signal: AbortSignal;
}

/** A call that runs, as whoever began it handles it. */
export interface SharedCall<Reply, AnyMember> {
  reply: Promise<Reply>;
  /** Whether this one may still wait for it. */
  takes(member: AnyMember): boolean;
  /** This one waits for it too: it may take the time that this one has, if that is longer. */
  extend(member: AnyMember): void;
  /** What one gets whose time is over, or who leaves, while others still wait. */
  giveUp(member: AnyMember): Reply;
  /** Nobody waits any more: `last` was the last one, and gets the reply that it comes to. */
  end(last: AnyMember): void;
}

export interface FlightMeans<Result, Refusal> {
  isResult(reply: Result | Refusal): reply is Result;
  limits: FanOutLimits;
}

interface Waiting<Reply, AnyMember> {
  member: AnyMember;
  reply: PromiseWithResolvers<Reply>;
  stopListening(): void;
}

export class Flight<Result extends StreamedResult, Refusal, AnyMember extends Member> {
  readonly #call: SharedCall<Result | Refusal, AnyMember>;
  readonly #means: FlightMeans<Result, Refusal>;
  readonly #onClosed: () => void;
  readonly #waiting = new Set<Waiting<Result | Refusal, AnyMember>>();
  #streamed: { result: Result; fanOut: FanOut } | null = null;

  /** `onClosed` is called when nobody can join any more, once or several times. */
  constructor(
    call: SharedCall<Result | Refusal, AnyMember>,
    means: FlightMeans<Result, Refusal>,
    onClosed: () => void,
  ) {
    this.#call = call;
    this.#means = means;
    this.#onClosed = onClosed;
    call.reply.then(
      (reply) => this.#land(reply),
      (error) => this.#crash(error),
    );
  }

  takes(member: AnyMember): boolean {
    return this.#call.takes(member);
  }

  /** The reply for one more member. Not to be called once the flight is closed. */
  join(member: AnyMember): Promise<Result | Refusal> {
    if (this.#streamed !== null) {
      const { result, fanOut } = this.#streamed;
      return Promise.resolve({ ...result, rest: fanOut.join(member.signal) });
    }
    const leave = () => this.#leave(waiting);
    const waiting: Waiting<Result | Refusal, AnyMember> = {
      member,
      reply: Promise.withResolvers(),
      stopListening: () => member.signal.removeEventListener('abort', leave),
    };
    this.#waiting.add(waiting);
    this.#call.extend(member);
    member.signal.addEventListener('abort', leave);
    if (member.signal.aborted) leave();
    return waiting.reply.promise;
  }

  #leave(waiting: Waiting<Result | Refusal, AnyMember>): void {
    if (!this.#waiting.has(waiting)) return;
    const { member, reply } = waiting;
    if (this.#waiting.size === 1) {
      // What the call comes to now is for this member alone.
      this.#onClosed();
      this.#call.end(member);
      return;
    }
    this.#waiting.delete(waiting);
    waiting.stopListening();
    reply.resolve(this.#call.giveUp(member));
  }

  #land(reply: Result | Refusal): void {
    const { isResult, limits } = this.#means;
    if (isResult(reply) && reply.rest !== null) {
      const fanOut = new FanOut(reply.rest, limits, this.#onClosed);
      this.#streamed = { result: reply, fanOut };
      // All of them before the first one reads.
      this.#settle(({ member, reply: { resolve } }) =>
        resolve({ ...reply, rest: fanOut.join(member.signal) }),
      );
    } else {
      this.#onClosed();
      this.#settle((waiting) => waiting.reply.resolve(reply));
    }
  }

  #crash(error: unknown): void {
    this.#onClosed();
    this.#settle((waiting) => waiting.reply.reject(error));
  }

  #settle(settle: (waiting: Waiting<Result | Refusal, AnyMember>) => void): void {
    for (const waiting of this.#waiting) {
      waiting.stopListening();
      settle(waiting);
    }
    this.#waiting.clear();
  }
}
