/**
 * Runs the operations of the SQLite thread: reads at once, writes one after the other. An operation that finds the file
 * locked by another process is retried until its time is over; other operations run in the meantime. Must not know SQL.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../store-error.ts';
import { readSqliteCode, SQLITE_BUSY } from './failures.ts';
import { readMonotonicMs } from './heartbeat.ts';

export interface Task {
  readonly isWrite: boolean;
  /** Time at which the task is refused, unless it has begun. */
  readonly dueMs: number;
  /** A write that throws has changed nothing. */
  readonly run: () => unknown;
  /** Called once. */
  readonly onDone: (value: unknown) => void;
  /** Called once, instead of `onDone`. */
  readonly onFailed: (error: unknown) => void;
}

/** The first delays of SQLite's own busy handler. */
const PAUSES_MS = [1, 2, 5, 10, 15, 20, 25];
/** Time after which queued tasks are interrupted to let new reads run. */
const SLICE_MS = 5;
const WRITES_MAX = 10_000;

export class Scheduler {
  readonly #writes: Task[] = [];
  /** Reads that found the file locked. */
  readonly #lockedReads: Task[] = [];
  /** Resolves when the queues are empty; null: they are empty now. */
  #running: Promise<void> | null = null;
  /** Consecutive attempts that found the file locked. */
  #lockedTimes = 0;

  add(task: Task): void {
    const { isWrite, dueMs } = task;
    const isFull = isWrite && this.#writes.length >= WRITES_MAX;
    if (isFull || readMonotonicMs() >= dueMs) task.onFailed(this.#refusal());
    // Writes run in order.
    else if (isWrite) this.#enqueue(this.#writes, task);
    else void this.#read(task);
  }

  /** Resolves when no task is waiting. */
  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #read(task: Task): Promise<void> {
    if (!(await this.#attempt(task))) this.#enqueue(this.#lockedReads, task);
  }

  #enqueue(queue: Task[], task: Task): void {
    queue.push(task);
    this.#running ??= this.#runQueues();
  }

  async #runQueues(): Promise<void> {
    const queues = [this.#lockedReads, this.#writes];
    while (queues.some((queue) => queue.length > 0)) {
      const untilMs = readMonotonicMs() + SLICE_MS;
      for (const queue of queues) {
        this.#refuseOverdue(queue);
        while (queue[0] !== undefined && readMonotonicMs() < untilMs) {
          if (!(await this.#attempt(queue[0]))) break;
          queue.shift();
        }
      }
      if (this.#lockedTimes > 0) await sleep(this.#pauseMs());
      else if (queues.some((queue) => queue.length > 0)) await nextTurn();
    }
    this.#running = null;
  }

  #refuseOverdue(queue: Task[]): void {
    const nowMs = readMonotonicMs();
    if (!queue.some(({ dueMs }) => dueMs <= nowMs)) return;
    for (const task of queue.splice(0)) {
      if (task.dueMs > nowMs) queue.push(task);
      else task.onFailed(this.#refusal());
    }
  }

  #refusal(): StoreError {
    return this.#lockedTimes > 0 ? locked() : tooSlow();
  }

  /** Runs a task. False if the file is locked. */
  async #attempt({ isWrite, run, onDone, onFailed }: Task): Promise<boolean> {
    try {
      const value = await run();
      // A read says nothing about the write lock.
      if (isWrite) this.#lockedTimes = 0;
      onDone(value);
    } catch (error) {
      if (isBusy(error)) {
        this.#lockedTimes++;
        return false;
      }
      onFailed(error);
    }
    return true;
  }

  #pauseMs(): number {
    return PAUSES_MS[Math.min(this.#lockedTimes, PAUSES_MS.length) - 1] ?? 0;
  }
}

function isBusy(error: unknown): boolean {
  return readSqliteCode(error) === SQLITE_BUSY;
}

function locked(): StoreError {
  return new StoreError('another process keeps it locked. Try again when that process has ended.');
}

function tooSlow(): StoreError {
  return new StoreError('it does not answer in time. See the load of its disk.');
}
