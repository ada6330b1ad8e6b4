/** Calls that run in the background, and their results. Part of the interface of a store (store.ts). */
import type { JobState } from '@erp-proxy/contract';
import type { AuditBatch } from './audit.ts';

/** A job as its caller asked for it. */
export interface JobRequest {
  readonly id: string;
  /** Id of the client, which alone may see the job. */
  readonly client: string;
  /** Id of the client key. */
  readonly key: string;
  /** The route that runs it, such as `execute`. */
  readonly route: string;
  /** The id of the request that asked for it. */
  readonly requestId: string;
  /** JSON text of what operators may see: instance, model, method. */
  readonly facts: string;
  /** The sealed key under which the body and the result are sealed. */
  readonly secret: string;
  /** A request of the same name gets the job that the first one has made. Null: the request has no name. */
  readonly name: string | null;
  /** Hash of the request. */
  readonly fingerprint: string;
  /** Id of the subscription that reports the end of the job; null: none. */
  readonly callback: string | null;
  /** The body, sealed, in parts. */
  readonly body: readonly Uint8Array[];
  readonly createdAt: number;
}

/** Times are milliseconds since 1970, by the clock of the process that set them. */
export interface JobRow extends Omit<JobRequest, 'body' | 'name' | 'callback'> {
  readonly state: JobState;
  /** Number of parts of the body. */
  readonly bodyParts: number;
  /** The attempt that runs it, or ran it last; null: it waits. */
  readonly attempt: string | null;
  /** True once its caller has cancelled it. A job that runs ends later. */
  readonly isCancelled: boolean;
  /** Number of records of the result so far; null: it has no records. */
  readonly records: number | null;
  /** Number of bytes and of parts of the result so far. */
  readonly bytes: number;
  readonly parts: number;
  /** HTTP status and JSON text of the headers of the result; null: there is none. */
  readonly status: number | null;
  readonly headers: string | null;
  /** Start of its first attempt; null: there was none. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface JobBounds {
  /** Maximum number of jobs of one client, ended or not. */
  readonly clientMax: number;
  /** Maximum number of jobs of all clients that have not ended. */
  readonly waitingMax: number;
  /** Maximum bytes of all bodies and results. A job is accepted if there are less. */
  readonly bytesMax: number;
}

/** The bound that refuses a job. */
export type FullJobs = 'client_full' | 'full' | 'bytes_full';

export interface JobProgress {
  readonly records: number | null;
  readonly bytes: number;
}

export interface JobEnd extends JobProgress {
  readonly state: Exclude<JobState, 'queued' | 'running'>;
  readonly status: number | null;
  readonly headers: string | null;
  readonly parts: number;
}

/** When a job ends: the time, and the milliseconds after which it is removed. */
export interface EndTime {
  readonly now: number;
  readonly keepMs: number;
}

export interface JobListQuery {
  /** The last row of the page before; null: the first page. */
  readonly after: { readonly createdAt: number; readonly id: string } | null;
  readonly limit: number;
  readonly state?: JobState | undefined;
  readonly client?: string | undefined;
}

export interface JobCounts {
  readonly queued: number;
  readonly running: number;
  readonly bytes: number;
}

/** What happens to jobs whose process has died. */
export interface JobRecovery extends EndTime {
  /** An attempt cannot have more time than this: a later end was set before the clock was set back. */
  readonly leaseMs: number;
  /** A job whose process died so often is not run again. */
  readonly lostMax: number;
}

/**
 * Waits and the time of attempts follow the clock of the store, so that replicas whose clocks differ agree. Methods
 * with an attempt do nothing, and return false or null, unless the attempt runs the job.
 */
export interface JobStore {
  /** Stores a job, or returns the one that has its name, or the bound that refuses it. */
  add(job: JobRequest, bounds: JobBounds): Promise<JobRow | FullJobs>;
  find(id: string): Promise<JobRow | null>;
  /** The newest first. */
  list(query: JobListQuery): Promise<JobRow[]>;
  /**
   * At most `limit` jobs that have ended, and whose end the subscription `callback` has not reported. They are reported
   * once a reading with them is committed (`Reading.endedJobs`).
   */
  listUnreported(callback: string, limit: number): Promise<JobRow[]>;
  /** Whether a job can be claimed, and whether an attempt has lost its time. */
  look(): Promise<{ isDue: boolean; isLost: boolean }>;
  /**
   * Gives the attempt the job that has waited longest, for `leaseMs`. No other attempt gets it meanwhile. Null: no job
   * may run now. `clientMax`: the number of jobs of one client that may run at once.
   */
  claim(attempt: string, leaseMs: number, clientMax: number, now: number): Promise<JobRow | null>;
  /** Gives the attempt `leaseMs` from now on. Null: it has lost the job. `bytes`: those of all bodies and results. */
  renew(
    id: string,
    attempt: string,
    leaseMs: number,
    progress: JobProgress,
  ): Promise<{ isCancelled: boolean; bytes: number } | null>;
  /** Records that the attempt sends a write, unless the job was cancelled. Survives a power loss. */
  markSent(id: string, attempt: string): Promise<boolean>;
  /** Records that the write has surely not run. */
  markUnsent(id: string, attempt: string): Promise<void>;
  end(id: string, attempt: string, end: JobEnd, time: EndTime): Promise<boolean>;
  /** Lets the job wait again for `waitMs`, or ends it if it was cancelled. */
  release(id: string, attempt: string, waitMs: number, time: EndTime): Promise<boolean>;
  /** Jobs of attempts that have lost their time: ends those that have sent a write, lets others wait again. */
  recover(recovery: JobRecovery): Promise<number>;
  /**
   * Ends a job that waits, and marks one that runs. Null: there is no such job. `client` null: of any client. An
   * ended job stays as it is.
   */
  cancel(id: string, client: string | null, time: EndTime, audit?: AuditBatch): Promise<JobRow | null>;
  /** `attempt` is empty for the body. */
  addPart(id: string, attempt: string, number: number, bytes: Uint8Array): Promise<void>;
  readPart(id: string, attempt: string, number: number): Promise<Uint8Array | null>;
  /** Removes at most `limit` parts of other attempts than `kept`. Returns their number. */
  dropParts(id: string, kept: readonly string[], limit: number): Promise<number>;
  /** Removes some parts of a job whose time is over, or the job. Returns false if there is no such job. */
  prune(): Promise<boolean>;
  count(): Promise<JobCounts>;
}
