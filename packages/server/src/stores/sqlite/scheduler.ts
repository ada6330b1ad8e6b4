/**
 * Runs the operations of the SQLite thread: reads at once, writes one after the other. An operation that finds the file
 * locked by another process is retried until its time is over; other operations run in the meantime. Must not know SQL.
 */
import { StoreError } from '../store-error.ts';
import { readSqliteCode, SQLITE_BUSY } from './failures.ts';
import { readMonotonicMs } from './heartbeat.ts';

export interface Task {
  readonly isWrite: boolean;
  /** Time at which the task is refused, unless it has begun. */
  readonly dueMs: number;
  /** A write returns no promise. If it throws, it has changed nothing. */
  readonly run: () => unknown;
  /** Called once. */
  readonly onDone: (value: unknown) => void;
  /** Called once, instead of `onDone`. */
  readonly onFailed: (error: unknown) => void;
}

/** The first delays of SQLite's own busy handler. */
const PAUSES_MS = [1, 2, 5, 10, 15, 20, 25];
/** After this time, queued tasks let new reads run. */
const SLICE_MS = 5;
const WRITES_MAX = 10_000;

export class Scheduler {
  readonly #writes: Task[] = [];
  /** Reads that found the file locked. */
  readonly #lockedReads: Task[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  /** Consecutive attempts that found the file locked. */
  #lockedTimes = 0;
  #onIdle: (() => void) | null = null;

  add(task: Task): void {
    const { isWrite, dueMs } = task;
    const isFull = isWrite && this.#writes.length >= WRITES_MAX;
    if (isFull || readMonotonicMs() >= dueMs) task.onFailed(this.#refusal());
    // Writes run in order.
    else if (isWrite && this.#writes.length > 0) this.#writes.push(task);
    else if (!this.#attempt(task)) this.#enqueue(isWrite ? this.#writes : this.#lockedReads, task);
  }

  /** Resolves when no task is waiting. */
  async drain(): Promise<void> {
    while (this.#timer !== null) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
  }

  #enqueue(queue: Task[], task: Task): void {
    queue.push(task);
    this.#timer ??= setTimeout(this.#runQueues, this.#pauseMs());
  }

  readonly #runQueues = (): void => {
    this.#timer = null;
    const untilMs = readMonotonicMs() + SLICE_MS;
    for (const queue of [this.#lockedReads, this.#writes]) {
      this.#refuseOverdue(queue);
      while (queue[0] !== undefined && readMonotonicMs() < untilMs) {
        if (!this.#attempt(queue[0])) break;
        queue.shift();
      }
    }
    if (this.#writes.length === 0 && this.#lockedReads.length === 0) this.#onIdle?.();
    else if (this.#lockedTimes > 0) this.#timer = setTimeout(this.#runQueues, this.#pauseMs());
    else this.#timer = setImmediate(this.#runQueues);
  };

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

  /** False if the file is locked. */
  #attempt(task: Task): boolean {
    let value: unknown;
    try {
      value = task.run();
    } catch (error) {
      if (isBusy(error)) {
        this.#lockedTimes++;
        return false;
      }
      task.onFailed(error);
      return true;
    }
    // A read says nothing about the write lock.
    if (task.isWrite) this.#lockedTimes = 0;
    if (value instanceof Promise) {
      value.then(task.onDone, (error: unknown) => {
        if (isBusy(error)) this.#enqueue(this.#lockedReads, task);
        else task.onFailed(error);
      });
    } else task.onDone(value);
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
