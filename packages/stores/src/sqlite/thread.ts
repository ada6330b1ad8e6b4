/**
 * The main thread's side of the SQLite thread. Sends requests, applies time limits to answers, and replaces a thread
 * that ends unexpectedly. Must not know SQL.
 */

import { Worker } from 'node:worker_threads';
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import type { ChangeListener } from '../ports/store.ts';
import { StoreError, UnknownOutcomeError } from '../store-error.ts';
import { Heartbeat, readMonotonicMs } from './heartbeat.ts';
import type { Migration } from './migrations.ts';
import {
  OPERATIONS,
  type OperationTraits,
  type PartName,
  type Reply,
  type Request,
  type ThreadStatus,
} from './operations.ts';

interface PendingRequest {
  isWrite: boolean;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** A thread that has no heartbeat for this time counts as blocked. */
const SILENCE_MS = 2000;
const RESTART_MS = 500;
/** Time for pending writes when the store is closed. After that the thread is terminated. */
const CLOSE_MS = 8000;
/** Maximum number of requests that wait for a blocked thread. */
const UNANSWERED_MAX = 10_000;
const CLOSED = 'it is closed.';
const NO_THREAD = 'its thread cannot be started. See the limits of memory, processes and threads';

export function labelFile(file: string): string {
  return `sqlite ${file}`;
}

export class SqliteThread {
  readonly label: string;
  readonly #file: string;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #listeners: ChangeListener[] = [];
  /** The thread that is opening the file, if any. */
  #starting: Worker | null = null;
  #lastId = 0;
  /** Number of requests that the thread has not answered, including those that have timed out. */
  #unanswered = 0;
  #worker: Worker | null = null;
  /** Reason why no thread runs; null if one runs. */
  #downReason: string | null = null;
  #status: ThreadStatus = { isWatching: true, trouble: null };
  #heartbeat = new Heartbeat();
  #restart: NodeJS.Timeout | undefined;
  #closed: Promise<void> | null = null;

  constructor(file: string) {
    this.#file = file;
    this.label = labelFile(file);
  }

  /** Resolves when the file is open; rejects with a {@link StoreError}. */
  open(): Promise<Migration> {
    const isSuccessor = this.#worker !== null || this.#downReason !== null;
    const heartbeat = new Heartbeat();
    let worker: Worker;
    try {
      worker = new Worker(new URL('./worker.mjs', import.meta.url), {
        workerData: { file: this.#file, isSuccessor, heartbeatMemory: heartbeat.memory },
        // Flags of the process, such as --eval and --watch, must not apply to the thread.
        execArgv: [],
      });
    } catch (error) {
      return Promise.reject(this.#describe(`${NO_THREAD} (${(error as Error).message})`));
    }
    this.#starting = worker;
    return new Promise((resolve, reject) => {
      let reason = 'its thread has ended.';
      worker.on('message', (reply: Reply) => {
        if ('opened' in reply) {
          this.#starting = null;
          // `close` terminates the thread.
          if (this.#closed !== null) return;
          this.#use(worker, heartbeat);
          resolve(reply.opened);
        } else if ('refused' in reply) reason = reply.refused;
        else this.#receive(reply);
      });
      worker.on('error', (error) => {
        reason = `its thread has failed: ${error instanceof Error ? error.message : String(error)}`;
      });
      worker.on('exit', () => {
        if (this.#starting === worker) this.#starting = null;
        reject(this.#describe(reason));
        if (this.#worker === worker) this.#handleExit(reason);
      });
    });
  }

  /** Rejects with a {@link StoreError}, or with an {@link UnknownOutcomeError} if a write may have been made. */
  request(part: PartName, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const refusal = this.#findRefusal();
      if (refusal !== null) return reject(this.#describe(refusal));
      const operations: Readonly<Record<string, OperationTraits>> = OPERATIONS[part];
      const { isWrite = false, answerMs } = operations[method] ?? {};
      const id = ++this.#lastId;
      const timer = setTimeout(() => this.#abandon(id, 'it does not answer in time.'), answerMs);
      this.#pending.set(id, { isWrite, resolve, reject, timer });
      this.#unanswered++;
      this.#send({ id, part, method, args, sentMs: readMonotonicMs() });
    });
  }

  /** Reason why no request can be sent; null: requests can be sent. */
  #findRefusal(): string | null {
    if (this.#closed !== null) return CLOSED;
    if (this.#worker === null) return this.#downReason ?? CLOSED;
    // A thread that is not blocked limits its own queues.
    const isFull = this.#isBlocked && this.#unanswered >= UNANSWERED_MAX;
    return isFull ? 'too many operations wait for it. See the load of its disk.' : null;
  }

  watch(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  get isWatching(): boolean {
    return !this.#isBlocked && this.#status.isWatching;
  }

  get trouble(): string | null {
    if (this.#downReason !== null) return this.#downReason;
    return this.#isBlocked ? 'it does not answer. See the load of its disk.' : this.#status.trouble;
  }

  /** Closes the store. Requests that were sent before are completed. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Whether the thread does not answer. True also if there is no thread. */
  get #isBlocked(): boolean {
    return this.#worker === null || this.#heartbeat.ageMs >= SILENCE_MS;
  }

  #use(worker: Worker, heartbeat: Heartbeat): void {
    // Only the timers of pending requests keep the process running.
    worker.unref();
    this.#worker = worker;
    this.#unanswered = 0;
    this.#downReason = null;
    this.#heartbeat = heartbeat;
    heartbeat.beat();
    this.#notify(null);
  }

  #receive(reply: Exclude<Reply, { opened: Migration } | { refused: string }>): void {
    if ('status' in reply) this.#status = reply.status;
    else if ('change' in reply) this.#notify(reply.change);
    else {
      this.#unanswered--;
      const request = this.#drop(reply.id);
      if ('failure' in reply) request?.reject(this.#describe(reply.failure));
      else request?.resolve(reply.value);
    }
  }

  #notify(change: Parameters<ChangeListener>[0]): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Rejects the request. A later answer is ignored. */
  #abandon(id: number, reason: string): void {
    const request = this.#drop(id);
    request?.reject(this.#describe(reason, request.isWrite ? UnknownOutcomeError : StoreError));
  }

  #drop(id: number): PendingRequest | undefined {
    const request = this.#pending.get(id);
    clearTimeout(request?.timer);
    this.#pending.delete(id);
    return request;
  }

  /** Called when the thread has ended, unexpectedly or after `close`. */
  #handleExit(reason: string): void {
    this.#worker = null;
    this.#downReason = this.#closed === null ? reason : CLOSED;
    for (const id of [...this.#pending.keys()]) this.#abandon(id, this.#downReason);
    if (this.#closed === null) this.#restart = setTimeout(() => this.#reopen(), RESTART_MS).unref();
  }

  #reopen(): void {
    this.open().catch((error: StoreError) => {
      if (this.#closed !== null) return;
      this.#downReason = error.reason ?? error.message;
      this.#restart = setTimeout(() => this.#reopen(), RESTART_MS).unref();
    });
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart);
    void this.#starting?.terminate();
    const worker = this.#worker;
    if (worker === null) {
      this.#downReason = CLOSED;
      return;
    }
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    worker.once('exit', resolve);
    this.#send({ close: true });
    // A thread that waits for its disk ends only when the disk answers, so its end is not awaited here.
    if ((await waitFor(exited, { timeoutMs: CLOSE_MS })) === TIMED_OUT) void worker.terminate();
  }

  #send(request: Request): void {
    this.#worker?.postMessage(request);
  }

  #describe(reason: string, ErrorClass = StoreError): StoreError {
    return new ErrorClass(`The store ${this.label} cannot be used: ${reason}`, { reason });
  }
}
