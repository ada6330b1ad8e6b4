/**
 * One attempt at a call under an idempotency key. It takes the key right before the call is sent: from there on a crash
 * means that the call may have happened, and nobody else sends it. Knows nothing of why an attempt ended as it did.
 */
import { randomUUID } from 'node:crypto';
import type { IdempotencyRow, IdempotencyStore } from '../stores/ports.ts';
import type { AnswerWriter } from '../streams/answer-writer.ts';
import { waitFor } from '../streams/wait.ts';
import { AnswerRecorder, type RecordingRoom } from './answer-recorder.ts';
import type { AnswerSeal, StoredAnswer } from './answer-seal.ts';
import type { CallName } from './call-names.ts';
import type { ClientUse } from './client-use.ts';
import type { PendingReleases } from './pending-releases.ts';

/** What another attempt has left, in place of running the call. */
export type StoredResult =
  /** The answer that it was given. */
  | { kind: 'answered'; answer: StoredAnswer }
  /** It was run, and its answer is not there: too large, too many of them, or broken off. */
  | { kind: 'answer_not_stored' }
  | { kind: 'running' }
  /** It was sent, and then cut off. */
  | { kind: 'outcome_unknown' }
  /** The key belongs to another call. */
  | { kind: 'other_call' }
  /** The client has as many keys as it may; nothing is known of this one. */
  | { kind: 'too_many_keys' };

export type AttemptOutcome =
  /** The answer that goes out is the one to give again. */
  | 'answered'
  /** The call was run, but its answer did not get through whole. */
  | 'ran_without_answer'
  /** It was not run, or was undone. */
  | 'not_run'
  | 'unknown';

interface Claim {
  id: string;
  attempt: string;
  isReadOnly: boolean;
}

export interface IdempotentCallDeps {
  store: IdempotencyStore;
  seal: AnswerSeal;
  room: RecordingRoom;
  use: ClientUse;
  releases: PendingReleases;
  keptForMs: number;
  answerBytesMax: number;
  onError: (error: unknown) => void;
}

/**
 * Beyond its time an attempt still ends its answer and writes how it ended; then it is taken for cut off. With the second
 * that a claim may take, five seconds: docs/idempotency.md.
 */
const FINISH_MS = 4000;
/** How long an answer waits for a slow store. Less than the time that answers have to leave after a deadline. */
const FINISH_WAIT_MS = 1000;

export class IdempotentCall {
  readonly #name: CallName;
  readonly #deps: IdempotentCallDeps;
  /** Its claim on the key, once it has one. */
  #claim: Claim | null = null;
  /** The writing down of how it ended, once that has begun. */
  #finished: Promise<void> | null = null;
  #recorder: AnswerRecorder | null = null;

  constructor(name: CallName, deps: IdempotentCallDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  /** What is known of the call; null: nothing, it may be run. Rejects where the store fails. */
  async find(): Promise<StoredResult | null> {
    const row = await this.#deps.store.find(this.#name.id);
    return row && this.#judge(row);
  }

  /**
   * Takes the key for `runsForMs`, the time that the call has left; to be called right before the call is sent, and again before it is sent once
   * more. Null: it may be sent. Rejects where the store fails: the call must not be sent then.
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
    const { client } = this.#name;
    if (!(await use.takeKey(client))) return { kind: 'too_many_keys' };
    const claim: Claim = { id: this.#name.id, attempt: randomUUID(), isReadOnly };
    const heldForMs = runsForMs + FINISH_MS;
    // A read that was cut off may simply be run again.
    const expiresInMs = isReadOnly ? heldForMs : heldForMs + keptForMs;
    let row: IdempotencyRow | null;
    try {
      row = await store.claim({ ...this.#name, attempt: claim.attempt, runsForMs: heldForMs, expiresInMs });
    } catch (error) {
      // The store may have taken it and failed to say so; the call is not sent.
      void this.#write(claim, 'not_run');
      throw error;
    }
    if (row !== null) {
      use.giveKey(client);
      return this.#judge(row);
    }
    this.#claim = claim;
    return null;
  }

  /** The call has more time since it took the key. */
  extend(runsForMs: number): void {
    const { store, onError } = this.#deps;
    if (this.#claim === null || this.#finished !== null) return;
    const { id, attempt } = this.#claim;
    void (async () => store.extend(id, attempt, runsForMs + FINISH_MS))().catch(onError);
  }

  /** The writer for the answer; where the key was taken it records, and holds the end back until `finish`. */
  record(writer: AnswerWriter): AnswerWriter {
    if (this.#claim === null) return writer;
    const { room, answerBytesMax } = this.#deps;
    this.#recorder = new AnswerRecorder(writer, room, answerBytesMax);
    return this.#recorder;
  }

  /**
   * Writes down how the attempt ended, and lets the answer go. Never rejects. Who gave up waiting for the claim may say so
   * beside the call itself: what is said first is written, once.
   */
  async finish(outcome: AttemptOutcome): Promise<void> {
    if (this.#claim !== null) {
      this.#finished ??= this.#write(this.#claim, outcome);
      await waitFor(this.#finished, { timeoutMs: FINISH_WAIT_MS });
    }
    this.#recorder?.letGo();
  }

  /**
   * Where this fails the key stays taken, and is one of an unknown outcome when its time is over; but a call that did not
   * happen gives it back when the store answers again.
   */
  async #write(claim: Claim, outcome: AttemptOutcome): Promise<void> {
    const { store, use, releases, keptForMs, onError } = this.#deps;
    const { client } = this.#name;
    const { id, attempt, isReadOnly } = claim;
    try {
      const answer = outcome === 'answered' ? this.#sealAnswer(id) : null;
      if (answer !== null && (await use.takeBytes(client, answer.length)))
        await store.keep(id, attempt, answer, keptForMs);
      else if (outcome === 'not_run' || isReadOnly) {
        await store.release(id, attempt);
        use.giveKey(client);
      } else if (outcome === 'unknown') await store.giveUp(id, attempt);
      else await store.keep(id, attempt, null, keptForMs);
    } catch (error) {
      onError(error);
      if (outcome === 'not_run') releases.add(id, attempt);
    }
  }

  /** Null where the answer is not there to be kept. */
  #sealAnswer(id: string): Uint8Array | null {
    const answer = this.#recorder?.answer ?? null;
    return answer && this.#deps.seal.seal(id, answer);
  }

  #judge({ fingerprint, state, answer }: IdempotencyRow): StoredResult {
    if (fingerprint !== this.#name.fingerprint) return { kind: 'other_call' };
    if (state !== 'done') return { kind: state };
    if (answer === null) return { kind: 'answer_not_stored' };
    try {
      return { kind: 'answered', answer: this.#deps.seal.open(this.#name.id, answer) };
    } catch (error) {
      this.#deps.onError(error);
      return { kind: 'answer_not_stored' };
    }
  }
}
