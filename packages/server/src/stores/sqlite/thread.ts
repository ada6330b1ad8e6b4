/**
 * The main thread's end of the SQLite thread: asks, waits for answers within their time, and starts
 * another thread where one has ended by itself. Knows no SQL.
 */

import { Worker } from 'node:worker_threads';
import { TIMED_OUT, waitFor } from '../../streams/wait.ts';
import type { ChangeListener } from '../ports.ts';
import { StoreError } from '../store-error.ts';
import { UnknownOutcomeError } from '../unknown-outcome-error.ts';
import type { Migration } from './migrations.ts';
import {
  type Manner,
  type News,
  OPERATIONS,
  type PartName,
  type Reply,
  type Request,
  readMonotonicMs,
} from './operations.ts';

interface Question {
  isWrite: boolean;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** Without news for so long the thread stands still. */
const SILENCE_MS = 2000;
const RESTART_MS = 500;
/** What waits to be written has this time at the end; then the thread is ended. */
const CLOSE_MS = 8000;
/** Messages that a thread which stands still may have before it. */
const UNANSWERED_MAX = 10_000;
const CLOSED = 'it is closed.';

export function labelFile(file: string): string {
  return `sqlite ${file}`;
}

export class SqliteThread {
  readonly label: string;
  readonly #file: string;
  readonly #questions = new Map<number, Question>();
  readonly #listeners: ChangeListener[] = [];
  /** A thread that opens the file. */
  #starting: Worker | null = null;
  #asked = 0;
  /** What the thread has not answered yet, also where nobody waits for the answer any more. */
  #unanswered = 0;
  #worker: Worker | null = null;
  /** Why there is no thread, or the news of the one that there is. */
  #down: string | null = null;
  #news: News = { isWatching: true, trouble: null };
  #heardMs = 0;
  #restart: NodeJS.Timeout | undefined;
  #closed: Promise<void> | null = null;

  constructor(file: string) {
    this.#file = file;
    this.label = labelFile(file);
  }

  /** Resolves when the file is open; rejects with a {@link StoreError}. */
  open(): Promise<Migration> {
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), {
      workerData: { file: this.#file, isSuccessor: this.#worker !== null || this.#down !== null },
      // Flags of the program, such as --eval and --watch, are not for this thread.
      execArgv: [],
    });
    this.#starting = worker;
    return new Promise((resolve, reject) => {
      let reason = 'its thread has ended.';
      worker.on('message', (reply: Reply) => {
        if ('opened' in reply) {
          this.#starting = null;
          // `close` has ended it.
          if (this.#closed !== null) return;
          this.#begin(worker);
          resolve(reply.opened);
        } else if ('refused' in reply) reason = reply.refused;
        else this.#take(reply);
      });
      worker.on('error', (error) => {
        reason = `its thread has failed: ${error instanceof Error ? error.message : String(error)}`;
      });
      worker.on('exit', () => {
        if (this.#starting === worker) this.#starting = null;
        reject(this.#describe(reason));
        if (this.#worker === worker) this.#end(reason);
      });
    });
  }

  /** Rejects with a {@link StoreError}; of a write that may have been made, with an {@link UnknownOutcomeError}. */
  ask(part: PartName, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const refusal = this.#findRefusal();
      if (refusal !== null) return reject(this.#describe(refusal));
      const manners: Readonly<Record<string, Manner>> = OPERATIONS[part];
      const { isWrite = false, answerMs } = manners[method] ?? {};
      const ask = ++this.#asked;
      const timer = setTimeout(() => this.#giveUp(ask, 'it does not answer in time.'), answerMs);
      this.#questions.set(ask, { isWrite, resolve, reject, timer });
      this.#unanswered++;
      this.#send({ ask, part, method, args, askedMs: readMonotonicMs() });
    });
  }

  /** Why nothing can be asked. */
  #findRefusal(): string | null {
    if (this.#closed !== null) return CLOSED;
    if (this.#worker === null) return this.#down ?? CLOSED;
    // A thread that is heard bounds what waits in it.
    const isFull = !this.#isHeard && this.#unanswered >= UNANSWERED_MAX;
    return isFull ? 'too many operations wait for it. See the load of its disk.' : null;
  }

  watch(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  get isWatching(): boolean {
    return this.#isHeard && this.#news.isWatching;
  }

  get trouble(): string | null {
    if (this.#down !== null) return this.#down;
    return this.#isHeard ? this.#news.trouble : 'it does not answer. See the load of its disk.';
  }

  /** What was asked before is carried out. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  get #isHeard(): boolean {
    return this.#worker !== null && readMonotonicMs() - this.#heardMs < SILENCE_MS;
  }

  #begin(worker: Worker): void {
    // What keeps the process is a question that waits for its answer.
    worker.unref();
    this.#worker = worker;
    this.#unanswered = 0;
    this.#down = null;
    this.#heardMs = readMonotonicMs();
    this.#tell(null);
  }

  #take(reply: Exclude<Reply, { opened: Migration } | { refused: string }>): void {
    this.#heardMs = readMonotonicMs();
    if ('news' in reply) this.#news = reply.news;
    else if ('change' in reply) this.#tell(reply.change);
    else {
      this.#unanswered--;
      const question = this.#drop(reply.answer);
      if ('failure' in reply) question?.reject(this.#describe(reply.failure));
      else question?.resolve(reply.value);
    }
  }

  #tell(change: Parameters<ChangeListener>[0]): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** No answer will be taken any more. */
  #giveUp(ask: number, reason: string): void {
    const question = this.#drop(ask);
    question?.reject(this.#describe(reason, question.isWrite ? UnknownOutcomeError : StoreError));
  }

  #drop(ask: number): Question | undefined {
    const question = this.#questions.get(ask);
    clearTimeout(question?.timer);
    this.#questions.delete(ask);
    return question;
  }

  /** The thread has ended by itself. */
  #end(reason: string): void {
    this.#worker = null;
    this.#down = this.#closed === null ? reason : CLOSED;
    for (const ask of [...this.#questions.keys()]) this.#giveUp(ask, this.#down);
    if (this.#closed === null) this.#restart = setTimeout(() => this.#openAgain(), RESTART_MS).unref();
  }

  #openAgain(): void {
    this.open().catch((error: StoreError) => {
      if (this.#closed !== null) return;
      this.#down = error.reason ?? error.message;
      this.#restart = setTimeout(() => this.#openAgain(), RESTART_MS).unref();
    });
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart);
    void this.#starting?.terminate();
    const worker = this.#worker;
    if (worker === null) {
      this.#down = CLOSED;
      return;
    }
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    worker.once('exit', resolve);
    this.#send({ close: true });
    // A thread that waits for its disk ends when the disk answers: nobody waits for that.
    if ((await waitFor(exited, { timeoutMs: CLOSE_MS })) === TIMED_OUT) void worker.terminate();
  }

  #send(request: Request): void {
    this.#worker?.postMessage(request);
  }

  #describe(reason: string, ErrorClass = StoreError): StoreError {
    return new ErrorClass(`The store ${this.label} cannot be used: ${reason}`, { reason });
  }
}
