/** Types of jobs: calls whose caller does not wait (`prefer: respond-async`). */
import type { ErrorBody } from './wire.ts';

/** Path of the jobs of a client: one is at `<path>/<id>`, its result at `<path>/<id>/result`. */
export const JOBS_PATH = '/api/erp/jobs';

/** `unknown`: Odoo may have run the call. */
export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'unknown', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job as its caller sees it. Times are ISO 8601. */
export interface Job {
  id: string;
  state: JobState;
  created_at: string;
  /** Null: it has not ended. */
  ended_at: string | null;
  /** The time at which an ended job is removed. Absent: it has not ended. */
  expires_at?: string;
  /** What there is of the result so far. Absent: it has not begun. `records` is for exports alone. */
  progress?: { bytes: number; records?: number };
  /** True: the job was cancelled, and has not ended yet. */
  cancel_requested?: true;
  /** Why there is no result. */
  error?: ErrorBody;
  /** Where the answer of the call is. Absent: there is none. */
  result_url?: string;
}
