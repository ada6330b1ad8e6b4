/**
 * Runs tasks on large bytes in a thread, so that they do not block the event loop. Tasks are pure functions, so one
 * thread serves the process, whatever the call. It starts with the first task. If it cannot start, tasks run here.
 */
import { Worker } from 'node:worker_threads';
import { countMemory } from '@erp-proxy/async/shared-bytes';
import {
  type MemoryId,
  pack,
  type SharedMemories,
  type TaskReply,
  type TaskRequest,
  unpack,
} from './messages.ts';
import { TASKS, type TaskName, type Tasks } from './tasks.ts';

/** The signal was aborted before the task ended. */
export class TaskAborted extends Error {
  override readonly name = 'TaskAborted';
}

interface Job {
  name: TaskName;
  args: readonly unknown[];
  sizeBytes: number;
  sinceMs: number;
  /** The message to the thread. It holds copies of bytes until the reply, which may have views of them. */
  sent: TaskRequest | null;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** A task that has waited longer is not overtaken by smaller ones. */
const OVERTAKEN_MS = 1000;

/**
 * Rejects with {@link TaskAborted} as soon as the signal is aborted. A task that has begun then still runs to its end.
 * `sizeBytes`: smaller tasks run first.
 */
export function runInThread<Name extends TaskName>(
  name: Name,
  args: Parameters<Tasks[Name]>,
  sizeBytes: number,
  signal: AbortSignal,
): Promise<ReturnType<Tasks[Name]>> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new TaskAborted());
    const settle = (end: () => void) => {
      signal.removeEventListener('abort', abort);
      end();
    };
    const job: Job = {
      name,
      args,
      sizeBytes,
      sinceMs: performance.now(),
      sent: null,
      resolve: (value) => settle(() => resolve(value as ReturnType<Tasks[Name]>)),
      reject: (error) => settle(() => reject(error)),
    };
    const abort = () => {
      thread.drop(job);
      job.reject(new TaskAborted());
    };
    signal.addEventListener('abort', abort);
    thread.add(job);
  });
}

/**
 * The memory that one thread has. It is released there once the main thread has no more views of it, which a garbage
 * collection finds out.
 */
class SentMemories implements SharedMemories {
  readonly #ids = new WeakMap<SharedArrayBuffer, MemoryId>();
  readonly #byId = new Map<MemoryId, WeakRef<SharedArrayBuffer>>();
  readonly #collected: FinalizationRegistry<MemoryId>;
  #count = 0;

  constructor(onReleased: (id: MemoryId) => void) {
    this.#collected = new FinalizationRegistry((id) => {
      this.#byId.delete(id);
      onReleased(id);
    });
  }

  send(memory: SharedArrayBuffer): { id: MemoryId; memory: SharedArrayBuffer | null } {
    const known = this.#ids.get(memory);
    if (known !== undefined) return { id: known, memory: null };
    const id = `main ${this.#count++}`;
    this.#add(id, memory);
    return { id, memory };
  }

  receive(id: MemoryId, memory: SharedArrayBuffer | null): SharedArrayBuffer {
    if (memory !== null) {
      countMemory(memory);
      this.#add(id, memory);
      return memory;
    }
    const known = this.#byId.get(id)?.deref();
    // The job that uses the memory, or the message that it has sent, keeps the memory alive.
    if (known === undefined) throw new Error(`the memory ${id} is gone`);
    return known;
  }

  #add(id: MemoryId, memory: SharedArrayBuffer): void {
    this.#ids.set(memory, id);
    this.#byId.set(id, new WeakRef(memory));
    this.#collected.register(memory, id);
  }
}

interface Running {
  worker: Worker;
  memories: SentMemories;
}

class TaskThread {
  #running: Running | null = null;
  #job: Job | null = null;
  readonly #waiting: Job[] = [];

  add(job: Job): void {
    this.#waiting.push(job);
    this.#advance();
  }

  drop(job: Job): void {
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #advance(): void {
    if (this.#job !== null) return;
    const job = this.#takeNext();
    if (job === undefined) return;
    this.#job = job;
    try {
      this.#send(job);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_INIT_FAILED') this.#runHere(job);
      else this.#end((failed) => failed.reject(error));
    }
  }

  /** No thread can be started, for lack of memory or threads. A blocked event loop is better than a call that fails. */
  #runHere({ name, args }: Job): void {
    const task = TASKS[name] as (...args: readonly unknown[]) => unknown;
    // Other work has its turn between two tasks.
    setImmediate(() => this.#end((job) => job.resolve(task(...args))));
  }

  /** Throws if the arguments cannot be sent, such as for lack of memory. */
  #send(job: Job): void {
    this.#running ??= this.#start();
    const { worker, memories } = this.#running;
    // A task keeps the process running, the thread alone does not.
    worker.ref();
    job.sent = { name: job.name, args: pack(job.args, memories) };
    worker.postMessage(job.sent);
  }

  /** The smallest one, or the oldest if it has waited for long. */
  #takeNext(): Job | undefined {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return undefined;
    const isOverdue = performance.now() - oldest.sinceMs > OVERTAKEN_MS;
    const smallest = () =>
      this.#waiting.reduce((one, other) => (other.sizeBytes < one.sizeBytes ? other : one));
    const next = isOverdue ? oldest : smallest();
    this.drop(next);
    return next;
  }

  #start(): Running {
    const worker = new Worker(new URL('./calls-worker.mjs', import.meta.url), {
      // Flags of the process, such as --eval and --watch, must not apply to the thread.
      execArgv: [],
    });
    const memories = new SentMemories((id) => worker.postMessage({ released: id } satisfies TaskRequest));
    worker.on('message', (reply: TaskReply) => {
      this.#end((job) => {
        if ('error' in reply) job.reject(reply.error);
        else job.resolve(unpack(reply.value, memories));
      });
    });
    let cause: unknown = new Error('the thread for large calls has ended');
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.#running = null;
      this.#end((job) => job.reject(cause));
    });
    return { worker, memories };
  }

  #end(settle: (job: Job) => void): void {
    const job = this.#job;
    this.#job = null;
    this.#running?.worker.unref();
    try {
      if (job !== null) settle(job);
    } catch (error) {
      job?.reject(error);
    }
    this.#advance();
  }
}

const thread = new TaskThread();
