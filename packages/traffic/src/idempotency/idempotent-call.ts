/**
 * One attempt at a call with an idempotency key. It claims the key right before the call is sent. After a crash later
 * than that, the call may have run, and no other attempt sends it. Must not know why an attempt ended as it did.
 */
import { randomUUID } from 'node:crypto';
import type { AnswerWriter } from '@erp-proxy/async/streams';
import { waitFor } from '@erp-proxy/async/tasks';
import type { IdempotencyRow, IdempotencyStore } from '@erp-proxy/stores/ports';
import { AnswerRecorder, type RecordingBudget } from './answer-recorder.ts';
import type { AnswerSeal, StoredAnswer } from './answer-seal.ts';
import type { CallName } from './call-names.ts';
import type { ClientUse } from './client-use.ts';
import type { PendingReleases } from './pending-releases.ts';

/** Reason why the call is not run: the result that the store has under its key. */
export type StoredResult =
  /** An earlier attempt was answered with `answer`. */
  | { kind: 'answered'; answer: StoredAnswer }
  /** An earlier attempt ran. Its answer was too large, exceeded the client's bound, or broke off. */
  | { kind: 'answer_not_stored' }
  | { kind: 'running' }
  /** An earlier attempt was sent, and then cut off. */
  | { kind: 'outcome_unknown' }
  /** The key was used for a different call. */
  | { kind: 'other_call' }
  /** The key is new, and the client has reached its maximum number of keys. */
  | { kind: 'too_many_keys' };

export type AttemptOutcome =
  /** The answer is stored for retries. */
  | 'answered'
  /** The call ran, but its answer was not sent completely. */
  | 'ran_without_answer'
  /** The call did not run, or was undone. */
  | 'not_run'
  | 'unknown';

interface Claim {
  id: string;
  client: string;
  attempt: string;
  isReadOnly: boolean;
}

export interface IdempotentCallDeps {
  store: IdempotencyStore;
  seal: AnswerSeal;
  budget: RecordingBudget;
  use: ClientUse;
  releases: PendingReleases;
  keptForMs: number;
  answerBytesMax: number;
  onError: (error: unknown) => void;
}

/**
 * Time after the time limit of the call in which an attempt completes its answer and stores its outcome. An attempt
 * that takes longer counts as cut off. With the second that a claim may take, it makes five seconds:
 * docs/idempotency.md.
 */
const FINISH_MS = 4000;
/**
 * Maximum time that an answer waits for a slow store. Shorter than the time after a deadline within which answers must
 * be sent.
 */
const FINISH_WAIT_MS = 1000;

export class IdempotentCall {
  readonly #name: Promise<CallName>;
  readonly #deps: IdempotentCallDeps;
  /** Null until the key is claimed. */
  #claim: Claim | null = null;
  /** Resolves when the outcome is stored; null until `finish` is called. */
  #stored: Promise<void> | null = null;
  #recorder: AnswerRecorder | null = null;

  constructor(name: Promise<CallName>, deps: IdempotentCallDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  /** Looks up the key. Null: the call may run. Rejects if the store fails. */
  async find(): Promise<StoredResult | null> {
    const name = await this.#name;
    const row = await this.#deps.store.find(name.id);
    return row && this.#check(row, name);
  }

  /**
   * Claims the key for `runsForMs`, the time that the call has left. Must be called each time right before the call is
   * sent. Null: the call may be sent. Rejects if the store fails; the call must not be sent then.
   */
  async claim({
    runsForMs,
    isReadOnly,
  }: {
    runsForMs: number;
    isReadOnly: boolean;
  }): Promise<StoredResult | null> {
    if (this.#claim !== null) return null;
    const { store, use, keptForMs } = this.#deps;
    const name = await this.#name;
    const { client } = name;
    if (!(await use.addKey(client))) return { kind: 'too_many_keys' };
    const claim: Claim = { id: name.id, client, attempt: randomUUID(), isReadOnly };
    const heldForMs = runsForMs + FINISH_MS;
    // A read that was cut off may run again.
    const expiresInMs = isReadOnly ? heldForMs : heldForMs + keptForMs;
    let row: IdempotencyRow | null;
    try {
      row = await store.claim({ ...name, attempt: claim.attempt, runsForMs: heldForMs, expiresInMs });
    } catch (error) {
      // The store may have stored the claim before it failed. The call is not sent, so the claim is released.
      void this.#store(claim, 'not_run');
      throw error;
    }
    if (row !== null) {
      use.removeKey(client);
      return this.#check(row, name);
    }
    this.#claim = claim;
    return null;
  }

  /** Extends the claim, after the time limit of the call was extended. */
  extend(runsForMs: number): void {
    const { store, onError } = this.#deps;
    if (this.#claim === null || this.#stored !== null) return;
    const { id, attempt } = this.#claim;
    void (async () => store.extend(id, attempt, runsForMs + FINISH_MS))().catch(onError);
  }

  /**
   * Wraps the writer of the answer. If the key is claimed, the answer is recorded and its end held back until `finish`.
   */
  record(writer: AnswerWriter): AnswerWriter {
    if (this.#claim === null) return writer;
    const { budget, answerBytesMax } = this.#deps;
    this.#recorder = new AnswerRecorder(writer, budget, answerBytesMax);
    return this.#recorder;
  }

  /**
   * Stores the outcome of the attempt, and sends the end of the answer. Never rejects. It may be called twice: by the
   * call, and by a caller that stopped waiting for the claim. Only the first outcome is stored.
   */
  async finish(outcome: AttemptOutcome): Promise<void> {
    if (this.#claim !== null) {
      this.#stored ??= this.#store(this.#claim, outcome);
      await waitFor(this.#stored, { timeoutMs: FINISH_WAIT_MS });
    }
    this.#recorder?.release();
  }

  /**
   * Stores the outcome. If the store fails, the key stays claimed until its time ends, and the outcome is then unknown.
   * The claim of a call that did not run is released when the store answers again.
   */
  async #store(claim: Claim, outcome: AttemptOutcome): Promise<void> {
    const { store, use, releases, keptForMs, onError } = this.#deps;
    const { id, client, attempt, isReadOnly } = claim;
    try {
      const answer = outcome === 'answered' ? this.#sealAnswer(id) : null;
      if (answer !== null && (await use.addBytes(client, answer.length)))
        await store.complete(id, attempt, answer, keptForMs);
      else if (outcome === 'not_run' || isReadOnly) {
        await store.release(id, attempt);
        use.removeKey(client);
      } else if (outcome === 'unknown') await store.markUnknown(id, attempt);
      else await store.complete(id, attempt, null, keptForMs);
    } catch (error) {
      onError(error);
      if (outcome === 'not_run') releases.add(id, attempt);
    }
  }

  /** The sealed answer; null if there is no complete answer to store. */
  #sealAnswer(id: string): Uint8Array | null {
    const answer = this.#recorder?.answer ?? null;
    return answer && this.#deps.seal.seal(id, answer);
  }

  #check({ fingerprint, state, answer }: IdempotencyRow, name: CallName): StoredResult {
    if (fingerprint !== name.fingerprint) return { kind: 'other_call' };
    if (state !== 'done') return { kind: state };
    if (answer === null) return { kind: 'answer_not_stored' };
    try {
      return { kind: 'answered', answer: this.#deps.seal.open(name.id, answer) };
    } catch (error) {
      this.#deps.onError(error);
      return { kind: 'answer_not_stored' };
    }
  }
}
