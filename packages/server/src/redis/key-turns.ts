/**
 * Collects what the calls of one key ask of its limits during one turn of the event loop, so that one script in Redis
 * serves them all. While a script of the key runs, the next turn continues until its answer: most of the cost of a
 * script is sending it. So a request waits for one answer in addition to its own, and only if its key is busy.
 */
import { setImmediate } from 'node:timers';
import type { LimitedKey } from '../limits/key-limits.ts';
import type { AdmitAnswer, AdmitRequest } from './admit-script.ts';

/** Beyond these numbers a turn ends early: the script would keep other clients of Redis waiting. */
const REQUESTS_MAX = 100;
const ENDED_MAX = 1000;

export interface KeyTurn {
  readonly id: string;
  /** The policy of all requests; null if there are none. */
  policy: LimitedKey['policy'] | null;
  readonly requests: readonly AdmitRequest[];
  /** Numbers of the leases that have ended. */
  readonly ended: readonly number[];
}

interface OpenTurn extends KeyTurn {
  readonly requests: PendingRequest[];
  readonly ended: number[];
}

interface PendingRequest extends AdmitRequest {
  resolve(answer: AdmitAnswer | null): void;
  reject(error: unknown): void;
}

export class KeyTurns {
  /** Turns that were not sent yet, by key. */
  readonly #turns = new Map<string, OpenTurn>();
  /** Number of scripts of each key that run. */
  readonly #running = new Map<string, number>();
  #isEnding = false;
  readonly #send: (turn: KeyTurn) => Promise<AdmitAnswer[] | null>;

  /** `send`: the answers to the requests, in their order. Null if Redis is away or refuses the operation. */
  constructor(send: (turn: KeyTurn) => Promise<AdmitAnswer[] | null>) {
    this.#send = send;
  }

  /** Null if Redis is away or refuses the operation. */
  request({ id, policy }: LimitedKey, { calls, leases }: AdmitRequest): Promise<AdmitAnswer | null> {
    const { promise, resolve, reject } = Promise.withResolvers<AdmitAnswer | null>();
    const present = this.#turns.get(id);
    // The policy of the key was changed during the turn.
    if (present?.policy && present.policy !== policy) this.#end(present);
    const turn = this.#open(id);
    turn.policy = policy;
    if (turn.requests.push({ calls, leases, resolve, reject }) === REQUESTS_MAX) this.#end(turn);
    return promise;
  }

  endLeases(id: string, leases: readonly number[]): void {
    const turn = this.#open(id);
    if (turn.ended.push(...leases) >= ENDED_MAX) this.#end(turn);
  }

  #open(id: string): OpenTurn {
    const present = this.#turns.get(id);
    if (present !== undefined) return present;
    if (!this.#running.has(id)) this.#endSoon();
    const turn: OpenTurn = { id, policy: null, requests: [], ended: [] };
    this.#turns.set(id, turn);
    return turn;
  }

  #end(turn: OpenTurn): void {
    const { id, requests } = turn;
    this.#turns.delete(id);
    this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
    this.#send(turn)
      .finally(() => this.#noteAnswer(id))
      .then(
        (answers) => {
          for (const [index, { resolve }] of requests.entries()) resolve(answers?.[index] ?? null);
        },
        (error: unknown) => {
          for (const { reject } of requests) reject(error);
        },
      );
  }

  #noteAnswer(id: string): void {
    const running = (this.#running.get(id) ?? 0) - 1;
    if (running > 0) this.#running.set(id, running);
    else this.#running.delete(id);
    if (this.#turns.has(id)) this.#endSoon();
  }

  /** At the end of the turn of the event loop. */
  #endSoon(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(() => {
      this.#isEnding = false;
      for (const turn of this.#turns.values()) if (!this.#running.has(turn.id)) this.#end(turn);
    });
  }
}
