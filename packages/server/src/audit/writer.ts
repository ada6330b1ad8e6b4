/**
 * Writes records to the store in the background: bounded, in batches, one write at a time. A call only puts its record
 * down; text and hashes are made when it is written. A store that is away is tried again until it is back.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditRow, AuditStore } from '../stores/ports.ts';
import type { HashRow } from './chain.ts';
import { createLosses } from './losses.ts';
import { type AuditedCall, printCall } from './record.ts';

/** With the time of the write itself less than the second that a kill may cost. */
const WRITE_DELAY_MS = 300;
const BACK_OFF_MAX_MS = 5000;
/** A store in the thread of the calls holds them up for about a millisecond. */
const BATCH_RECORDS_MAX = 100;
const WAITING_RECORDS_MAX = 50_000;
const WAITING_BYTES_MAX = 32 * 1024 ** 2;
/** Of a record in memory, beside its texts. */
const RECORD_BYTES = 500;
const CLOSE_TIMEOUT_MS = 5000;

export interface WriterOptions {
  store: Pick<AuditStore, 'append'>;
  hashRow: HashRow;
  onError: (error: unknown) => void;
  onLost: (records: number) => void;
}

export interface Writer {
  push(call: AuditedCall, at: number): void;
  /** Writes one record now, between two batches; it is not tried again. */
  append(row: Pick<AuditRow, 'at' | 'record'>): Promise<void>;
  readonly waiting: number;
  readonly lost: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly call: AuditedCall;
  readonly at: number;
}

export function createWriter({ store, hashRow, onError, onLost }: WriterOptions): Writer {
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let failures = 0;
  let isWriting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const losses = createLosses(onLost);

  function push(call: AuditedCall, at: number): void {
    const bytes = measure(call);
    if (isClosed || waiting.length >= WAITING_RECORDS_MAX || waitingBytes + bytes > WAITING_BYTES_MAX) {
      losses.add(1);
      return;
    }
    waiting.push({ call, at });
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
    const batch = waiting.slice(0, BATCH_RECORDS_MAX);
    if (batch.length === 0) return;
    const rows = batch.map(({ call, at }) => ({ at, record: printCall(call, at) }));
    await store.append(rows, hashRow);
    // Only what is in the store leaves the queue, and what `close` has given up is not there any more.
    for (const { call } of waiting.splice(0, batch.length)) waitingBytes -= measure(call);
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
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    const written = (async () => {
      while (!isOver) {
        try {
          return await flush();
        } catch (error) {
          onError(error);
          await new Promise((resolve) => setTimeout(resolve, WRITE_DELAY_MS));
        }
      }
    })();
    await Promise.race([written, timeout]);
    isOver = true;
    clearTimeout(timer);
    losses.add(waiting.splice(0).length);
    losses.close();
  }

  return {
    push,
    append: (row) => takeTurn(async () => store.append([row], hashRow)),
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

function measure({ requestId, upstream, db, model, method }: AuditedCall): number {
  const texts = [requestId, upstream, db, model, method];
  return texts.reduce((bytes, text) => bytes + (text?.length ?? 0), RECORD_BYTES);
}
