/**
 * Writes records to the store in the background, in batches, one write at a time, from a bounded queue. A call only
 * queues its record; the text and the hash are made when it is written. Failed writes are repeated until the store is
 * available.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay, waitFor } from '@erp-proxy/async/tasks';
import type { AuditBatch, AuditStore } from '@erp-proxy/stores/ports';
import { type AdminAction, type AuditedCall, printAdminAction, printCall } from './record.ts';

/** Less than a second together with the write: a killed process loses at most the records of a second. */
const WRITE_DELAY_MS = 300;
const BACK_OFF_MAX_MS = 5000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_RECORDS_MAX = 100;
const WAITING_RECORDS_MAX = 50_000;
const WAITING_BYTES_MAX = 32 * 1024 ** 2;
/** Memory for a record, in addition to its texts. */
const RECORD_BYTES = 500;
const CLOSE_TIMEOUT_MS = 5000;

export interface WriterOptions {
  store: Pick<AuditStore, 'append'>;
  /** Creates a batch with its id. */
  makeBatch: (records: AuditBatch['records']) => AuditBatch;
  onError: (error: unknown) => void;
  onLost: (records: number) => void;
}

export interface Writer {
  push(entry: AuditedCall | AdminAction, at: number): void;
  /** Writes a batch as soon as the running write has ended. A failed write is not repeated. */
  append(batch: AuditBatch): Promise<void>;
  readonly waiting: number;
  readonly lost: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface QueuedRecord {
  readonly entry: AuditedCall | AdminAction;
  readonly at: number;
}

export function createWriter({ store, makeBatch, onError, onLost }: WriterOptions): Writer {
  const waiting: QueuedRecord[] = [];
  /** The batch of the last write. It is repeated unchanged until the store has it. */
  let batch: AuditBatch | undefined;
  let waitingBytes = 0;
  let failures = 0;
  let isWriting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const losses = createLosses(onLost);

  function push(entry: AuditedCall | AdminAction, at: number): void {
    const bytes = measure(entry);
    if (isClosed || waiting.length >= WAITING_RECORDS_MAX || waitingBytes + bytes > WAITING_BYTES_MAX) {
      losses.add(1);
      return;
    }
    waiting.push({ entry, at });
    waitingBytes += bytes;
    schedule();
  }

  function schedule(): void {
    if (timer !== undefined || isWriting || isClosed) return;
    const delayMs = Math.min(WRITE_DELAY_MS * 2 ** failures, BACK_OFF_MAX_MS);
    timer = setTimeout(writeInBackground, delayMs).unref();
  }

  async function writeInBackground(): Promise<void> {
    timer = undefined;
    isWriting = true;
    try {
      await flush();
      failures = 0;
    } catch (error) {
      failures++;
      onError(error);
    }
    isWriting = false;
    if (waiting.length > 0) schedule();
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      await runInOrder(writeBatch);
      if (waiting.length > 0) await nextTurn();
    }
  }

  async function writeBatch(): Promise<void> {
    batch ??= nextBatch();
    if (batch === undefined) return;
    await store.append(batch);
    // A record leaves the queue only when it is stored. After `close` has given up, the queue is empty.
    for (const { entry } of waiting.splice(0, batch.records.length)) waitingBytes -= measure(entry);
    batch = undefined;
  }

  function nextBatch(): AuditBatch | undefined {
    const next = waiting.slice(0, BATCH_RECORDS_MAX);
    return next.length === 0
      ? undefined
      : makeBatch(next.map(({ entry, at }) => ({ at, record: print(entry, at) })));
  }

  /** Runs writes one after another, so that batches stay in order. */
  function runInOrder(write: () => Promise<void>): Promise<void> {
    const written = lastWrite.then(write);
    lastWrite = written.catch(() => {});
    return written;
  }

  async function close(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    let isOver = false;
    const written = (async () => {
      while (!isOver) {
        try {
          return await flush();
        } catch (error) {
          onError(error);
          await delay(WRITE_DELAY_MS);
        }
      }
    })();
    await waitFor(written, { timeoutMs: CLOSE_TIMEOUT_MS });
    isOver = true;
    losses.add(waiting.splice(0).length);
    losses.close();
  }

  return {
    push,
    append: (batch) => runInOrder(async () => store.append(batch)),
    get waiting() {
      return waiting.length;
    },
    get lost() {
      return losses.total;
    },
    flush,
    close,
  };
}

function print(entry: AuditedCall | AdminAction, at: number): string {
  return 'target' in entry ? printAdminAction(entry, at) : printCall(entry, at);
}

function measure(entry: AuditedCall | AdminAction): number {
  const texts =
    'target' in entry
      ? [entry.requestId, entry.actor.id, entry.actor.name, entry.target]
      : [entry.requestId, entry.upstream, entry.db, entry.model, entry.method, entry.odooLogin];
  return texts.reduce((bytes, text) => bytes + (text?.length ?? 0), RECORD_BYTES);
}

/** Counts lost records, and reports them at most once a second. */
const REPORT_INTERVAL_MS = 1000;

export interface Losses {
  add(records: number): void;
  readonly total: number;
  /** Reports the remaining losses. */
  close(): void;
}

function createLosses(onLost: (records: number) => void): Losses {
  let total = 0;
  let unreported = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(): void {
    timer = undefined;
    if (unreported === 0) return;
    const records = unreported;
    unreported = 0;
    timer = setTimeout(report, REPORT_INTERVAL_MS).unref();
    onLost(records);
  }

  return {
    add(records) {
      total += records;
      unreported += records;
      if (timer === undefined) report();
    },
    get total() {
      return total;
    },
    close() {
      clearTimeout(timer);
      report();
      clearTimeout(timer);
    },
  };
}
