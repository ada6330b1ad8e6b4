/**
 * One attempt to run a job, from its claim to its end. It runs as the call of its caller would: with the key, the
 * policy and the limits as they are now. What the store records makes sure that no write is sent twice: a mark before
 * each write, which only the attempt that has the job can set.
 */
import type { AnswerWriter } from '@erp-proxy/async/streams';
import { delay, startPeriodicTask } from '@erp-proxy/async/tasks';
import { BUSINESS_ERRORS } from '@erp-proxy/contract';
import type { Vault } from '@erp-proxy/control/instances';
import type { Client, Clients, Keys } from '@erp-proxy/control/keys';
import type { RunRequest } from '@erp-proxy/gateway';
import { buildErrorAnswer, describeDenial, listDenialHeaders } from '@erp-proxy/gateway/request';
import {
  BackgroundExchange,
  type CallRunner,
  Denial,
  denyClient,
  type MadeCalls,
  NULL_ID,
  OWN_DIALECT,
  type WriteMark,
} from '@erp-proxy/gateway/terms';
import type { Events } from '@erp-proxy/observe/events';
import { StoreError } from '@erp-proxy/stores';
import type { JobEnd, JobRow, JobStore } from '@erp-proxy/stores/ports';
import { BODY, type JobHead, namePart, openBody } from './job-body.ts';
import { type JobSeal, openJobSeal } from './job-seal.ts';
import { ResultWriter } from './result-writer.ts';

/** A route that jobs can have. */
export interface JobRoute extends MadeCalls {
  /** Answers the request, or returns why it is refused as a whole. */
  serve(runner: CallRunner): Promise<Denial | null>;
}

export interface RunningJobDeps {
  store: JobStore;
  vault: Vault;
  run: RunRequest;
  keys: Pick<Keys, 'findClient'>;
  clients: Pick<Clients, 'authenticate'>;
  routes: Readonly<Record<string, JobRoute>>;
  /** Maximum time of an attempt. */
  runMs: number;
  /** Maximum bytes of a result, and of all bodies and results. */
  resultBytesMax: number;
  totalBytesMax: number;
  keepMs: number;
  leaseMs: number;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  random: () => number;
  events: Pick<Events, 'jobEnded' | 'faultSeen'>;
  onError: (error: unknown) => void;
}

/** Why an attempt ends before its answer is complete. */
type Cause =
  /** Another process has the job, or may have it. */
  | 'lost'
  | 'cancelled'
  | 'late'
  /** All results together are too large. */
  | 'full'
  | 'stopping';

/** What follows from an attempt. Null: the job waits for a further one. */
type Outcome = { state: JobEnd['state'] } | { waitMs: number };

/** Fraction of the time of a claim after which it is renewed. */
const RENEWAL = 1 / 6;
/** Fraction after which an attempt that could not renew its claim ends: its clock may be slower than the store's. */
const MARGIN = 0.9;
const DROPPED_AT_ONCE = 64;
const WAIT_MS = 1000;
const WAIT_MS_MAX = 3_600_000;
/** The time limit of a call ends before that of its job, because its answer says whether it was sent. */
const LATE_MS = 5000;
/** Waits between attempts to store the end. */
const STORE_WAIT_MS = 1000;

export class RunningJob {
  readonly #row: JobRow;
  readonly #attempt: string;
  readonly #deps: RunningJobDeps;
  readonly #ending = new AbortController();
  readonly #writer: ResultWriter;
  #seal: JobSeal | null = null;
  #cause: Cause | null = null;
  /** Number of writes that were sent and may have run. */
  #writes = 0;
  #records: number | null = null;
  #heldUntilMs: number;

  constructor(row: JobRow, attempt: string, deps: RunningJobDeps) {
    this.#row = row;
    this.#attempt = attempt;
    this.#deps = deps;
    this.#heldUntilMs = deps.nowMs() + deps.leaseMs * MARGIN;
    this.#writer = new ResultWriter({
      bytesMax: deps.resultBytesMax,
      save: (number, bytes) => {
        const sealed = this.#seal!.seal(namePart(attempt, number), bytes);
        return deps.store.addPart(row.id, attempt, number, sealed);
      },
    });
  }

  /** Ends a job that has sent no write. One that has goes on to its end, because Odoo does. */
  cancel(): void {
    this.#end('cancelled');
  }

  /** The process stops. */
  stop(): void {
    this.#end('stopping');
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { leaseMs, runMs, nowMs, onError } = this.#deps;
    const startedMs = nowMs();
    const renewal = startPeriodicTask(() => this.#renew(), { intervalMs: leaseMs * RENEWAL, onError });
    const timer = setTimeout(() => this.#end('late'), runMs + LATE_MS).unref();
    try {
      const denial = await this.#answer();
      clearTimeout(timer);
      await this.#finish(denial, startedMs);
    } catch (error) {
      // The store does not answer. Another attempt follows after the time of this one, if no write was sent.
      onError(error);
    } finally {
      clearTimeout(timer);
      await renewal.close();
    }
  }

  /** Runs the calls of the job, and stores their answer. Returns why they were refused as a whole. */
  async #answer(): Promise<Denial | null> {
    const { store, vault, events } = this.#deps;
    const { id, secret, requestId } = this.#row;
    try {
      this.#seal = openJobSeal(vault, id, secret);
      // An earlier attempt may have stored a part of its answer.
      while ((await store.dropParts(id, [BODY, this.#attempt], DROPPED_AT_ONCE)) > 0);
      const { head, body } = await openBody(this.#row, store, this.#seal);
      const client = await this.#findClient(head);
      return client instanceof Denial ? client : await this.#runRoute(client, head, body);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      events.faultSeen(requestId, error);
      return FAILED;
    }
  }

  async #findClient({ token }: JobHead): Promise<Client | Denial> {
    const { keys, clients } = this.#deps;
    const found = await (token === null ? keys.findClient(this.#row.key) : clients.authenticate(token));
    if (!('refused' in found)) return found;
    if (found.refused !== 'token')
      return new Denial('unauthorized', `The key of the job is ${found.refused} by now.`);
    const denial = denyClient(found, OWN_DIALECT);
    return denial.type === 'unauthorized' ? TOKEN_OVER : denial;
  }

  async #runRoute(client: Client, head: JobHead, body: Uint8Array): Promise<Denial | null> {
    const { run, routes } = this.#deps;
    const { route: name, requestId } = this.#row;
    const route = routes[name];
    if (route === undefined) return UNKNOWN_ROUTE;
    const { serve, ...made } = route;
    const writer: AnswerWriter = this.#writer;
    const reportRecords = (count: number) => {
      this.#records = count;
    };
    return await run<null>({
      source: { by: 'background', client, ...made, isBackground: true, writeMark: this.#writeMark },
      exchange: new BackgroundExchange(requestId, this.#ending.signal, {
        ...head,
        body,
        writer,
        reportRecords,
      }),
      dialect: OWN_DIALECT,
      answer: serve,
    });
  }

  readonly #writeMark: WriteMark = {
    set: async () => {
      if (this.#cause !== null) return false;
      const isMarked = await this.#deps.store.markSent(this.#row.id, this.#attempt);
      if (isMarked) this.#writes++;
      // Tells whether the job was cancelled, or is lost.
      else await this.#renew();
      return isMarked;
    },
    clear: async () => {
      if (this.#writes === 0) return;
      this.#writes--;
      // An earlier write of this attempt has run.
      if (this.#writes > 0) return;
      try {
        await this.#deps.store.markUnsent(this.#row.id, this.#attempt);
      } catch (error) {
        this.#deps.onError(error);
      }
    },
  };

  #end(cause: Cause): void {
    this.#cause ??= cause;
    // A write goes on: `time.outliveCaller` of its call.
    this.#ending.abort();
  }

  /** Runs at intervals. */
  async #renew(): Promise<void> {
    const { store, leaseMs, nowMs, totalBytesMax } = this.#deps;
    const askedMs = nowMs();
    if (askedMs >= this.#heldUntilMs) this.#end('lost');
    const progress = { records: this.#records, bytes: this.#writer.bytes };
    const renewed = await store.renew(this.#row.id, this.#attempt, leaseMs, progress);
    if (renewed === null) {
      this.#end('lost');
      return;
    }
    this.#heldUntilMs = askedMs + leaseMs * MARGIN;
    if (renewed.isCancelled) this.#end('cancelled');
    if (renewed.bytes <= totalBytesMax) return;
    this.#writer.fail('the results of all jobs are too large');
    this.#end('full');
  }

  async #finish(denial: Denial | null, startedMs: number): Promise<void> {
    const outcome = await this.#decide(denial);
    const { id, route, key, requestId, createdAt, facts } = this.#row;
    const { store, clock, keepMs, nowMs, events } = this.#deps;
    if (outcome === null) return;
    const time = { now: clock(), keepMs };
    if ('waitMs' in outcome) {
      await this.#record(() => store.release(id, this.#attempt, outcome.waitMs, time));
      return;
    }
    const { status, headers, bytes, parts } = this.#writer;
    const isKept = outcome.state !== 'cancelled' && this.#writer.isWhole;
    const end: JobEnd = {
      state: outcome.state,
      status: isKept ? status : null,
      headers: isKept ? JSON.stringify(headers) : null,
      records: this.#records,
      bytes,
      parts,
    };
    if (!(await this.#record(() => store.end(id, this.#attempt, end, time)))) return;
    const { model, action } = JSON.parse(facts) as { model: string; action: string };
    events.jobEnded({
      requestId,
      keyId: key,
      job: id,
      route,
      model,
      action,
      state: outcome.state,
      error: this.#writer.error?.data.type ?? null,
      bytes,
      waitedMs: Math.max(0, time.now - createdAt - (nowMs() - startedMs)),
      totalMs: nowMs() - startedMs,
    });
    // The body has credentials.
    while ((await store.dropParts(id, [this.#attempt], DROPPED_AT_ONCE)) > 0);
  }

  /** What the attempt has come to. Null: another process has the job. */
  async #decide(denial: Denial | null): Promise<Outcome | null> {
    const cause = this.#cause;
    if (cause === 'lost') return null;
    const isSent = this.#writes > 0;
    if (denial !== null) this.#refuse(denial);
    const isComplete = await this.#writer.finish();
    const { error } = this.#writer;
    if (isComplete && error === null) return { state: 'done' };
    if (isComplete && error !== null && cause === null) {
      if (!isSent && error.data.retryable && WAITING.has(error.data.type) && this.#mayWait())
        return { waitMs: this.#chooseWait(error.retryAfterSeconds) };
      return { state: isDoubtful(error.data, isSent) ? 'unknown' : 'failed' };
    }
    if (!isSent && cause === 'stopping') return { waitMs: 0 };
    if (!isSent && cause === 'cancelled') return { state: 'cancelled' };
    if (isComplete) return { state: isDoubtful(error!.data, isSent) ? 'unknown' : 'failed' };
    const { isTooLarge } = this.#writer;
    await this.#replace(
      isTooLarge ? TOO_LARGE : cause === 'late' ? LATE : cause === 'full' ? NO_ROOM : BROKEN_OFF,
    );
    return { state: isSent ? 'unknown' : 'failed' };
  }

  #refuse(denial: Denial): void {
    if (!this.#writer.restart()) return;
    const { httpStatus, error } = describeDenial(denial, OWN_DIALECT);
    this.#writer.sendWhole(httpStatus, listDenialHeaders(denial), buildErrorAnswer(NULL_ID, error));
  }

  /** An error takes the place of an answer that is not complete. */
  async #replace(denial: Denial): Promise<void> {
    const { store } = this.#deps;
    // Parts of the answer that were stored are removed first, because the error has the same place.
    while ((await store.dropParts(this.#row.id, [BODY], DROPPED_AT_ONCE)) > 0);
    this.#writer.clear();
    this.#refuse(denial);
    await this.#writer.finish();
  }

  #mayWait(): boolean {
    const { clock, keepMs } = this.#deps;
    return clock() < this.#row.createdAt + keepMs;
  }

  #chooseWait(retryAfterSeconds: number): number {
    const leastMs = Math.min(WAIT_MS_MAX, Math.max(WAIT_MS, retryAfterSeconds * 1000));
    return Math.round(leastMs * (1 + this.#deps.random()));
  }

  /** Records the end, again while the store does not answer and the job is this attempt's. */
  async #record(record: () => Promise<boolean>): Promise<boolean> {
    const { nowMs, onError } = this.#deps;
    for (;;) {
      try {
        return await record();
      } catch (error) {
        onError(error);
        if (nowMs() >= this.#heldUntilMs) return false;
      }
      await delay(STORE_WAIT_MS);
    }
  }
}

const FAILED = new Denial('internal', 'The proxy failed; tell its operator the id of the job.');

const TOKEN_OVER = new Denial(
  'unauthorized',
  'The token of the job has expired or was withdrawn before the job ran; send the request again with a new one.',
);

const UNKNOWN_ROUTE = new Denial(
  'overloaded',
  'A newer version of the proxy has stored the job; it runs on a process of that version.',
  { outcome: 'not_sent', retryAfterSeconds: 60 },
);

const TOO_LARGE = new Denial(
  'payload_too_large',
  'The result is larger than the setting `jobs.bytesMax` allows: ask for less.',
);

const NO_ROOM = new Denial(
  'overloaded',
  'The results of all jobs are larger than the setting `jobs.totalBytesMax` allows. Send the request again later.',
  { outcome: 'unknown', isReadOnly: true, detail: 'jobs.totalBytesMax' },
);

const LATE = new Denial(
  'upstream_timeout',
  'The job took longer than the setting `jobs.secondsMax` allows: ask for less.',
  { outcome: 'unknown' },
);

const BROKEN_OFF = new Denial('upstream_unreachable', 'The answer of Odoo broke off.', {
  outcome: 'unknown',
});

/** Errors of calls that could not begin. */
const WAITING: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'idempotency_conflict']);

/** True if Odoo may have run the call. Errors of Odoo itself are its answer. */
function isDoubtful({ type, outcome }: { type: string; outcome?: string }, isSent: boolean): boolean {
  if (type === 'outcome_unknown') return true;
  return isSent && !(type in BUSINESS_ERRORS) && (outcome ?? 'unknown') === 'unknown';
}
