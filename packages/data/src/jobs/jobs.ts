/**
 * The jobs of clients: stores calls whose caller does not wait, and shows, cancels and returns them to the client that
 * asked for them, and to nobody else. The worker (worker.ts) runs them.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ByteStreamError } from '@erp-proxy/async/streams';
import { CALL_SOURCES, type ErrorBody, JOBS_PATH, type Job } from '@erp-proxy/contract';
import type { Vault } from '@erp-proxy/control/instances';
import { createRecordCheck } from '@erp-proxy/gateway/call';
import { ReadingPace } from '@erp-proxy/gateway/request';
import {
  type CallRunner,
  type Deferrals,
  type DeferredCall,
  type DeferredFacts,
  type DeferredReply,
  Denial,
} from '@erp-proxy/gateway/terms';
import { UnknownOutcomeError } from '@erp-proxy/stores';
import type { FullJobs, JobBounds, JobRow, JobStore } from '@erp-proxy/stores/ports';
import { printTime } from '@erp-proxy/text';
import { openPart, sealBody } from './job-body.ts';
import { createJobSeal, openJobSeal } from './job-seal.ts';

export interface JobsOptions {
  store: JobStore;
  /** The id of the subscription with this name to `job.ended`; null: there is none. */
  findCallback: (name: string) => Promise<string | null>;
  vault: Vault;
  /** For the names of jobs with an idempotency key. */
  secret: Uint8Array;
  /** Milliseconds since 1970. */
  clock: () => number;
  keepMs: number;
  bounds: JobBounds;
  /** The path before the paths of the proxy, as callers see it. */
  basePath: string;
  /** Minimum rate at which a caller must read a result; 0: no minimum. */
  bytesPerSecondMin: number;
  onError: (error: unknown) => void;
}

/** What a client does with its jobs. Each method answers the request, or returns why it is refused. */
export interface JobRequests {
  show(runner: CallRunner, id: string): Promise<Denial | null>;
  cancel(runner: CallRunner, id: string): Promise<Denial | null>;
  sendResult(runner: CallRunner, id: string): Promise<Denial | null>;
}

export interface Jobs extends Deferrals, JobRequests {
  /** Calls `listener` after this process has stored or cancelled a job. */
  onChange(listener: (change: { cancelled: string | null }) => void): void;
  /** The job as its caller sees it. */
  describe(row: JobRow): Promise<Job>;
  /** At most `max` jobs that have ended, and whose end the subscription with this id has not reported. */
  listUnreported(subscription: string, max: number): Promise<{ clientId: string; job: Job }[]>;
}

/** Headers that the call has again when it runs. */
const STORED_HEADERS = ['idempotency-key', 'origin', 'traceparent', 'x-approval'];
const RETRY_AFTER_SECONDS = 5;
const RETRY_AFTER_FULL_SECONDS = 60;
/** A client should not ask more often whether a job has ended. */
const ASK_AGAIN_SECONDS = 2;
const ID = /^[0-9a-f-]{36}$/;
const HASHED_BYTES = 256 * 1024;

export function createJobs(options: JobsOptions): Jobs {
  const { store, findCallback, vault, secret, clock, keepMs, bounds, basePath, onError } = options;
  const listeners: ((change: { cancelled: string | null }) => void)[] = [];
  const tell = (cancelled: string | null) => {
    for (const listener of listeners) listener({ cancelled });
  };

  /** Hash of a request, for its idempotency key. */
  async function nameRequest({ route, bytes, exchange }: DeferredCall): Promise<string> {
    const terms = [route, dropAsync(exchange.header('prefer'))];
    const hmac = createHmac('sha256', secret).update(`request ${JSON.stringify(terms)}`);
    for (let start = 0; start < bytes.length; start += HASHED_BYTES) {
      hmac.update(bytes.subarray(start, start + HASHED_BYTES));
      await yieldToEventLoop();
    }
    return hmac.digest('base64url');
  }

  function nameJob(clientId: string, idempotencyKey: string): string {
    const text = `name ${JSON.stringify([clientId, idempotencyKey])}`;
    return createHmac('sha256', secret).update(text).digest('base64url');
  }

  async function storeCall(call: DeferredCall, fingerprint: string): Promise<JobRow | FullJobs | Denial> {
    const { route, bytes, client, token, exchange, idempotencyKey, facts } = call;
    const callback = call.callback === null ? null : await findCallback(call.callback);
    if (callback === null && call.callback !== null) return NO_CALLBACK;
    const id = randomUUID();
    const { seal, secret: sealedKey } = createJobSeal(vault, id);
    const headers: Record<string, string> = {};
    for (const name of STORED_HEADERS) {
      const value = exchange.header(name);
      if (value !== undefined) headers[name] = value;
    }
    const prefer = dropAsync(exchange.header('prefer'));
    if (prefer !== null) headers['prefer'] = prefer;
    const { clientId } = client.key;
    return await store.add(
      {
        id,
        client: clientId,
        key: client.key.id,
        route,
        requestId: exchange.requestId,
        facts: JSON.stringify(facts),
        secret: sealedKey,
        name: idempotencyKey === null ? null : nameJob(clientId, idempotencyKey),
        fingerprint,
        callback,
        body: await sealBody({ headers, address: exchange.address, token }, bytes, seal),
        createdAt: clock(),
      },
      bounds,
    );
  }

  async function defer(call: DeferredCall): Promise<DeferredReply | Denial> {
    const fingerprint = await nameRequest(call);
    let row: JobRow | FullJobs | Denial;
    try {
      row = await storeCall(call, fingerprint);
    } catch (error) {
      return denyStore(error);
    }
    if (row instanceof Denial) return row;
    if (typeof row === 'string') return DENIALS[row];
    if (row.fingerprint !== fingerprint) return OTHER_CALL;
    tell(null);
    const body = Buffer.from(JSON.stringify(await describe(row)));
    const headers = { 'preference-applied': 'respond-async', location: locate(row.id) };
    return { kind: 'deferred', headers, body };
  }

  const locate = (id: string) => `${basePath}${JOBS_PATH}/${id}`;

  async function describe(row: JobRow): Promise<Job> {
    const { id, state, createdAt, endedAt, records, bytes, isCancelled, status } = row;
    const hasBegun = state === 'running' || status !== null;
    const progress = { bytes, ...(records === null ? {} : { records }) };
    const hasFailed = state === 'failed' || state === 'unknown';
    const error = hasFailed ? await readError(row) : null;
    return {
      id,
      state,
      created_at: printTime(createdAt),
      ended_at: endedAt === null ? null : printTime(endedAt),
      ...(endedAt === null ? {} : { expires_at: printTime(endedAt + keepMs) }),
      ...(hasBegun ? { progress } : {}),
      ...(isCancelled && endedAt === null ? { cancel_requested: true } : {}),
      ...(error === null ? {} : { error }),
      ...(state === 'done' ? { result_url: `${locate(id)}/result` } : {}),
    };
  }

  /** Why a job has no result: from its answer, or because its process has died. */
  async function readError(row: JobRow): Promise<ErrorBody> {
    const lost = row.state === 'unknown' ? LOST_WRITE : LOST_OFTEN;
    if (row.status === null || row.parts !== 1) return lost;
    try {
      const part = await openPart(
        row.id,
        row.attempt ?? '',
        0,
        store,
        openJobSeal(vault, row.id, row.secret),
      );
      return part === null ? lost : JSON.parse(Buffer.from(part).toString()).error;
    } catch (error) {
      onError(error);
      return lost;
    }
  }

  /** Ids of other clients are unknown. */
  async function find({ client }: CallRunner, id: string): Promise<JobRow | Denial> {
    try {
      const row = ID.test(id) ? await store.find(id) : null;
      return row === null || row.client !== client.key.clientId ? NO_JOB : row;
    } catch (error) {
      return denyStore(error);
    }
  }

  async function sendJob(runner: CallRunner, row: JobRow): Promise<null> {
    const waits = row.endedAt === null ? { 'retry-after': String(ASK_AGAIN_SECONDS) } : {};
    const body = Buffer.from(JSON.stringify(await describe(row)));
    runner.exchange.writer.sendWhole(200, { ...runner.describe(), ...waits }, body);
    return null;
  }

  return {
    defer,
    describe,
    async listUnreported(subscription, max) {
      const rows = await store.listUnreported(subscription, max);
      return await Promise.all(rows.map(async (row) => ({ clientId: row.client, job: await describe(row) })));
    },
    onChange: (listener) => void listeners.push(listener),
    async show(runner, id) {
      const row = await find(runner, id);
      return row instanceof Denial ? row : await sendJob(runner, row);
    },
    async cancel(runner, id) {
      const found = await find(runner, id);
      if (found instanceof Denial) return found;
      let row: JobRow | null;
      try {
        row = await store.cancel(id, found.client, { now: clock(), keepMs });
      } catch (error) {
        return denyStore(error);
      }
      if (row === null) return NO_JOB;
      tell(id);
      return await sendJob(runner, row);
    },
    async sendResult(runner, id) {
      const row = await find(runner, id);
      if (row instanceof Denial) return row;
      if (row.endedAt === null) return NOT_ENDED;
      if (row.status === null) return NO_RESULT;
      const denied = checkResult(runner, row);
      if (denied !== null) return denied;
      await new ResultSending(runner, row, options).run();
      return null;
    },
  };
}

/** Whether the policy still allows the call, whose values are not kept. Null: it does. */
function checkResult({ client }: CallRunner, { route, facts }: JobRow): Denial | null {
  const { denied } = createRecordCheck(client.policy?.policy ?? null)({
    ...(JSON.parse(facts) as DeferredFacts),
    address: null,
    via: CALL_SOURCES.find((source) => source === route) ?? null,
  });
  return denied === null ? null : new Denial('policy_denied', denied.message, { rule: denied.rule });
}

/** Sends the stored answer of a job as it is read from the store. */
class ResultSending {
  readonly #runner: CallRunner;
  readonly #row: JobRow;
  readonly #options: JobsOptions;

  constructor(runner: CallRunner, row: JobRow, options: JobsOptions) {
    this.#runner = runner;
    this.#row = row;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { id, secret, attempt, status, headers, bytes, parts } = this.#row;
    const { store, vault, bytesPerSecondMin } = this.#options;
    const { exchange, signal } = this.#runner;
    const { writer } = exchange;
    const seal = openJobSeal(vault, id, secret);
    const pace = new ReadingPace(bytesPerSecondMin);
    // Without this listener, a write to a caller that has stopped reading would never settle.
    const breakOff = () => writer.breakOff();
    signal.addEventListener('abort', breakOff);
    try {
      writer.begin(status!, { ...this.#runner.describe(), ...JSON.parse(headers ?? '{}') }, bytes);
      for (let number = 0; number < parts; number++) {
        const part = await openPart(id, attempt!, number, store, seal);
        if (part === null) throw new ByteStreamError('broken_off', 'the job was removed');
        if (!(await pace.waitUntilRead(part.length, writer.write(part), () => true)))
          throw pace.slowCallerError;
        if (signal.aborted) throw new ByteStreamError('aborted', 'the caller has left');
        this.#runner.renewTime();
      }
      writer.end();
    } catch (error) {
      writer.breakOff();
      if (!(error instanceof ByteStreamError)) this.#options.onError(error);
    } finally {
      signal.removeEventListener('abort', breakOff);
    }
  }
}

/** The preferences without `respond-async`, which holds for the request alone; null: none. */
function dropAsync(header: string | undefined): string | null {
  const others = (header ?? '').split(',').filter((preference) => !/^\s*respond-async\b/i.test(preference));
  const text = others.join(',').trim();
  return text === '' ? null : text;
}

function denyStore(error: unknown): Denial {
  const detail = error instanceof Error ? error.message : String(error);
  // The job may be stored, and then runs.
  const outcome = error instanceof UnknownOutcomeError ? 'unknown' : 'not_sent';
  const advice =
    outcome === 'unknown'
      ? 'The job may be stored: only with an `idempotency-key` may the request be sent again.'
      : 'Send the request again in a moment.';
  return new Denial('overloaded', `The proxy's store does not answer. ${advice}`, {
    outcome,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail: `store: ${detail}`,
  });
}

const NO_CALLBACK = new Denial(
  'invalid_request',
  '`callback` must be the name of a subscription to `job.ended`, which an operator has stored. The job was not stored: leave `callback` out, and ask for the state of the job at the path in `location`.',
  { path: 'prefer' },
);

const OTHER_CALL = new Denial(
  'idempotency_conflict',
  'This `idempotency-key` was used for the job of another call. Give each call a key of its own, and send a retry with the same bytes. This call was not stored.',
  { path: 'idempotency-key' },
);

const NO_JOB = new Denial(
  'route_not_found',
  'This client has no job with this id. A job is removed `jobs.keepHours` hours after its end.',
);

const NOT_ENDED = new Denial('route_not_found', 'The job has not ended, and so has no result yet.', {
  retryAfterSeconds: ASK_AGAIN_SECONDS,
});

const NO_RESULT = new Denial('route_not_found', 'The job has no result: its `state` and `error` say why.');

const DENIALS: Record<FullJobs, Denial> = {
  client_full: new Denial(
    'rate_limited',
    'The client has as many jobs as the setting `jobs.clientMax` allows, ended ones included. Wait until some are removed.',
    { retryAfterSeconds: RETRY_AFTER_FULL_SECONDS, detail: 'jobs.clientMax' },
  ),
  full: new Denial(
    'overloaded',
    'As many jobs wait as the setting `jobs.waitingMax` allows. Send the request again later.',
    { outcome: 'not_sent', retryAfterSeconds: RETRY_AFTER_FULL_SECONDS, detail: 'jobs.waitingMax' },
  ),
  bytes_full: new Denial(
    'overloaded',
    'The results of jobs take as much room as the setting `jobs.totalBytesMax` allows. Send the request again later.',
    { outcome: 'not_sent', retryAfterSeconds: RETRY_AFTER_FULL_SECONDS, detail: 'jobs.totalBytesMax' },
  ),
};

const LOST_WRITE: ErrorBody = {
  code: -32015,
  message:
    'The process that ran the job ended after it had sent the call: Odoo may have run it. Look there before sending it again.',
  data: { type: 'outcome_unknown', retryable: false },
};

const LOST_OFTEN: ErrorBody = {
  code: -32603,
  message: 'The processes that ran the job ended before it did. Odoo has not changed anything.',
  data: { type: 'internal', retryable: false },
};
