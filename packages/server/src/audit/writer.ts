/**
 * Writes records to the store in the background: bounded, in batches, one write at a time. A call only puts its record
 * down; text and hashes are made when it is written. A store that is away is tried again until it is back.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditBatch, AuditStore } from '../stores/ports.ts';
import { delay, waitFor } from '../streams/wait.ts';
import { createLosses } from './losses.ts';
import { type Act, type AuditedCall, printAct, printCall } from './record.ts';

/** With the time of the write itself less than the second that a kill may cost. */
const WRITE_DELAY_MS = 300;
const BACK_OFF_MAX_MS = 5000;
/** Small, so that other operations of the store run in between. */
const BATCH_RECORDS_MAX = 100;
const WAITING_RECORDS_MAX = 50_000;
const WAITING_BYTES_MAX = 32 * 1024 ** 2;
/** Of a record in memory, beside its texts. */
const RECORD_BYTES = 500;
const CLOSE_TIMEOUT_MS = 5000;

export interface WriterOptions {
  store: Pick<AuditStore, 'append'>;
  /** Gives the batch an id. */
  makeBatch: (records: AuditBatch['records']) => AuditBatch;
  onError: (error: unknown) => void;
  onLost: (records: number) => void;
}

export interface Writer {
  push(entry: AuditedCall | Act, at: number): void;
  /** Writes a batch now, between two others; it is not tried again. */
  append(batch: AuditBatch): Promise<void>;
  readonly waiting: number;
  readonly lost: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: AuditedCall | Act;
  readonly at: number;
}

export function createWriter({ store, makeBatch, onError, onLost }: WriterOptions): Writer {
  const waiting: Waiting[] = [];
  /** The oldest of those that wait, as they were last given to the store: until it has them, they are given as they were. */
  let batch: AuditBatch | undefined;
  let waitingBytes = 0;
  let failures = 0;
  let isWriting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const losses = createLosses(onLost);

  function push(entry: AuditedCall | Act, at: number): void {
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
      await takeTurn(writeBatch);
      if (waiting.length > 0) await nextTurn();
    }
  }

  async function writeBatch(): Promise<void> {
    batch ??= nextBatch();
    if (batch === undefined) return;
    await store.append(batch);
    // Only what is in the store leaves the queue, and what `close` has given up is not there any more.
    for (const { entry } of waiting.splice(0, batch.records.length)) waitingBytes -= measure(entry);
    batch = undefined;
  }

  function nextBatch(): AuditBatch | undefined {
    const next = waiting.slice(0, BATCH_RECORDS_MAX);
    return next.length === 0
      ? undefined
      : makeBatch(next.map(({ entry, at }) => ({ at, record: print(entry, at) })));
  }

  /** One write after the other, so that batches stay in order. */
  function takeTurn(write: () => Promise<void>): Promise<void> {
    const turn = lastTurn.then(write);
    lastTurn = turn.catch(() => {});
    return turn;
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
    append: (batch) => takeTurn(async () => store.append(batch)),
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

function print(entry: AuditedCall | Act, at: number): string {
  return 'actor' in entry ? printAct(entry, at) : printCall(entry, at);
}

function measure(entry: AuditedCall | Act): number {
  const texts =
    'actor' in entry
      ? [entry.requestId, entry.actor, entry.target]
      : [entry.requestId, entry.upstream, entry.db, entry.model, entry.method];
  return texts.reduce((bytes, text) => bytes + (text?.length ?? 0), RECORD_BYTES);
}
