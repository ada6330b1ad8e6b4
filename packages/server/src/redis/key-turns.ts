/**
 * Collects what the calls of one key ask of its limits during one turn of the event loop, so that one script in Redis
 * serves them all. Nothing waits longer than until the end of the turn.
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
  readonly #turns = new Map<string, OpenTurn>();
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
    if (this.#turns.size === 0) setImmediate(() => this.#endAll());
    const turn: OpenTurn = { id, policy: null, requests: [], ended: [] };
    this.#turns.set(id, turn);
    return turn;
  }

  #end(turn: OpenTurn): void {
    this.#turns.delete(turn.id);
    const { requests } = turn;
    this.#send(turn).then(
      (answers) => {
        for (const [index, { resolve }] of requests.entries()) resolve(answers?.[index] ?? null);
      },
      (error: unknown) => {
        for (const { reject } of requests) reject(error);
      },
    );
  }

  #endAll(): void {
    for (const turn of this.#turns.values()) this.#end(turn);
  }
}
