/**
 * Runs the jobs of all clients: claims one after the other in the store, up to a number at once. A process that dies
 * loses its jobs after the time of its claims: another one runs them again, unless a write was sent (running-job.ts).
 */
import { randomUUID } from 'node:crypto';
import { type PeriodicTask, startPeriodicTask, waitFor } from '@erp-proxy/async/tasks';
import type { Jobs } from './jobs.ts';
import { RunningJob, type RunningJobDeps } from './running-job.ts';

/** Times of the worker. Tests set shorter ones. */
export interface JobTimes {
  /** A job that its process has not renewed for so long is given to another one. */
  leaseMs: number;
  /** Interval at which the process looks for jobs of other processes. */
  lookMs: number;
  /** Interval at which jobs are removed whose time is over. */
  pruneMs: number;
}

export const JOB_TIMES: JobTimes = { leaseMs: 30_000, lookMs: 5000, pruneMs: 60_000 };

export interface JobWorkerOptions extends Omit<RunningJobDeps, 'leaseMs'> {
  jobs: Pick<Jobs, 'onChange'>;
  /** Maximum number of jobs that this process runs at once. */
  concurrency: number;
  /** Maximum number of jobs of one client that run at once, in all processes. */
  clientConcurrency: number;
  times: JobTimes;
}

export interface JobWorker {
  start(): void;
  /** Number of jobs that this process runs. */
  readonly running: number;
  /** Lets running jobs end within `graceMs`. Others wait for another process. */
  close(graceMs: number): Promise<void>;
}

/** A job whose process has died so often is given up: it may be the cause. */
const LOST_MAX = 10;

export function createJobWorker(options: JobWorkerOptions): JobWorker {
  const { store, jobs, clock, keepMs, concurrency, clientConcurrency, times, onError } = options;
  const running = new Map<string, { job: RunningJob; ended: Promise<void> }>();
  const tasks: PeriodicTask[] = [];
  let filling: Promise<void> | null = null;
  /** True if a job may wait that the running claim does not see. */
  let isWanted = false;
  let isClosed = false;

  const mayClaim = () => isWanted && running.size < concurrency && !isClosed;

  /** Claims jobs while there is room. */
  function fill(): void {
    isWanted = true;
    if (isClosed) return;
    filling ??= claimAll()
      .catch(onError)
      .finally(() => {
        filling = null;
        if (mayClaim()) fill();
      });
  }

  async function claimAll(): Promise<void> {
    while (mayClaim()) {
      isWanted = false;
      const attempt = randomUUID();
      const row = await store.claim(attempt, times.leaseMs, clientConcurrency, clock());
      if (row === null) continue;
      isWanted = true;
      const job = new RunningJob(row, attempt, { ...options, leaseMs: times.leaseMs });
      const ended = job.run().finally(() => {
        running.delete(row.id);
        fill();
      });
      running.set(row.id, { job, ended });
      if (isClosed) job.stop();
    }
  }

  async function look(): Promise<void> {
    const { isDue, isLost } = await store.look();
    if (isLost) await store.recover({ leaseMs: times.leaseMs, lostMax: LOST_MAX, now: clock(), keepMs });
    if (isDue || isLost) fill();
  }

  async function prune(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await store.prune()));
  }

  return {
    start() {
      jobs.onChange(({ cancelled }) => {
        if (cancelled === null) fill();
        else running.get(cancelled)?.job.cancel();
      });
      tasks.push(startPeriodicTask(look, { intervalMs: times.lookMs, onError }));
      tasks.push(startPeriodicTask(prune, { intervalMs: times.pruneMs, onError }));
      fill();
    },
    get running() {
      return running.size;
    },
    async close(graceMs) {
      isClosed = true;
      for (const task of tasks) await task.close();
      await filling;
      for (const { job } of running.values()) job.stop();
      const ended = Promise.all([...running.values()].map((one) => one.ended));
      await waitFor(ended, { timeoutMs: graceMs });
    },
  };
}
