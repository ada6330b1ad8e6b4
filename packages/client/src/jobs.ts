/** Jobs: requests that run in the proxy while nobody waits for them. */
import { ErpProxyError, readError } from './errors.ts';
import { readTimeout, wait } from './limit-time.ts';
import type { CallOptions } from './options.ts';
import { readRefusal } from './post.ts';
import { addHeaders, type SendSettings, send, toRoute } from './send.ts';

/** What the proxy tells about a job. Times are ISO 8601. */
export interface JobStatus {
  id: string;
  /** `unknown`: a write was sent, and its answer did not arrive, so that Odoo may have run it. */
  state: 'queued' | 'running' | 'done' | 'failed' | 'unknown' | 'cancelled';
  created_at: string;
  ended_at: string | null;
  expires_at?: string;
  progress?: { bytes: number; records?: number };
  cancel_requested?: true;
  error?: unknown;
  result_url?: string;
}

export interface Job<Result> {
  /** By which `client.job(id)` finds the job again. */
  readonly id: string;
  status(options?: CallOptions): Promise<JobStatus>;
  /** Waits for the end of the job, and returns its result. Throws the error of a job that has none. */
  done(options?: CallOptions): Promise<Result>;
  /** A write that was sent goes on to its end. */
  cancel(options?: CallOptions): Promise<JobStatus>;
}

/** Options of a request that becomes a job. */
export interface JobOptions extends CallOptions {
  /** Name of a subscription to `job.ended`, which reports the end of the job to its receiver. */
  callback?: string | undefined;
}

/** How the result of a job is read: the result of a call, or the answer of an export as a stream. */
export type ResultKind = 'result' | 'response';

/** Waits between two questions for the state of a job. */
const WAIT_MS = 500;
const WAIT_MS_MAX = 10_000;
const GROWTH = 1.5;

export function openJob<Result>(settings: SendSettings, id: string, kind: ResultKind): Job<Result> {
  const { url } = toRoute(settings, `jobs/${encodeURIComponent(id)}`);
  const shown = [{ model_id: '', action: 'job' }];

  async function ask(method: 'GET' | 'DELETE', options: CallOptions): Promise<JobStatus> {
    return (await send({ ...settings, url, method }, shown, null, options)).answer as JobStatus;
  }

  async function readResult(options: CallOptions): Promise<Result> {
    const place = `${url}/result`;
    if (kind === 'result') {
      const { answer } = await send({ ...settings, url: place, method: 'GET' }, shown, null, options);
      return (answer as { result: Result }).result;
    }
    const headers: Record<string, string> = {};
    const requestId = crypto.randomUUID();
    addHeaders(headers, settings, requestId, undefined);
    const response = await settings.fetch(place, {
      headers,
      redirect: 'manual',
      signal: options.signal ?? null,
    });
    if (response.ok) return response as Result;
    const sent = { url: place, requestId, isReadOnly: true, idempotencyKey: undefined };
    throw readRefusal(response, await response.text(), sent);
  }

  return {
    id,
    status: (options = {}) => ask('GET', options),
    async done(options = {}) {
      const endsMs = performance.now() + (readTimeout(options, {}) ?? Number.POSITIVE_INFINITY);
      for (let waitMs = WAIT_MS; ; waitMs = Math.min(waitMs * GROWTH, WAIT_MS_MAX)) {
        const { state, ended_at, error } = await ask('GET', options);
        if (state === 'done') return await readResult(options);
        if (error) throw readError(error, { status: 200 });
        if (ended_at !== null) throw new ErpProxyError('job_cancelled', 'The job was cancelled.');
        if (performance.now() + waitMs >= endsMs)
          throw new ErpProxyError('client_timeout', 'The job took longer than its time limit.');
        await wait(waitMs, options.signal);
      }
    },
    cancel: (options = {}) => ask('DELETE', options),
  };
}
