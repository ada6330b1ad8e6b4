/**
 * Sends the audit to a sink outside of the store, continuously, in order and at least once, in one process at a time.
 * The store has the place of the last record that the sink has taken, so that any process continues there, also after a
 * crash. Knows no kind of sink.
 */
import { delay, waitFor } from '@erp-proxy/async/tasks';
import type { AuditPosition, AuditRow, AuditStore, LeaseStore } from '@erp-proxy/stores/ports';

export interface AuditTarget {
  /** Name of the place, by which the store keeps the position: without secrets. */
  readonly name: string;
  /**
   * The last record that is known to be there; null: that is not known. The position in the store may be behind it
   * after a crash, or before it if the sink has lost records that it had taken.
   */
  findLast(): Promise<AuditPosition | null>;
  /** Resolves when the sink has taken all rows. Rejects with the reason, for operators, if it may not have. */
  write(rows: readonly AuditRow[]): Promise<void>;
  close(): Promise<void>;
}

export interface AuditSinkOptions {
  store: Pick<AuditStore, 'readAfter' | 'readFloor' | 'readSink' | 'moveSink'>;
  leases: LeaseStore;
  target: AuditTarget;
  /** Unique for this process. */
  owner: string;
  /** Called once at the beginning of an outage. */
  onFailure: (reason: string) => void;
  /** Called once at its end. */
  onRecovery: () => void;
  /** Called if retention has removed records before the sink has taken them. */
  onSkipped: (records: number) => void;
  /** Milliseconds between two looks for new records; tests set a shorter time. */
  idleMs?: number;
  /** Milliseconds before the first attempt after a failure, which double up to a minute; tests set a shorter time. */
  backOffMs?: number;
}

export interface AuditSink {
  /** Why the sink does not take records; null: it takes them, or another process sends them. */
  readonly failure: string | null;
  /**
   * The time of the oldest record that this process knows to be missing in the sink, in milliseconds since 1970; null:
   * it knows none, or another process sends them.
   */
  readonly oldestAt: number | null;
  start(): void;
  /** Ends after the running write, which is repeated by another process if it does not succeed. */
  close(): Promise<void>;
}

const LEASE = 'audit-sink';
/** Duration of the lease. A batch must be written in this time, so that no other process begins meanwhile. */
const LEASE_MS = 60_000;
const IDLE_MS = 1000;
const BACK_OFF_MIN_MS = 1000;
const BACK_OFF_MAX_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2000;
const BATCH_ROWS_MAX = 200;
/** Maximum length of the texts of a batch; a single longer record is a batch of its own. */
const BATCH_LENGTH_MAX = 512 * 1024;

export function createAuditSink(options: AuditSinkOptions): AuditSink {
  const { store, leases, target, owner, onFailure, onRecovery, onSkipped } = options;
  const { idleMs = IDLE_MS, backOffMs: backOffMinMs = BACK_OFF_MIN_MS } = options;
  const closing = new AbortController();
  let failure: string | null = null;
  let oldestAt: number | null = null;
  /** One after a failure, so that the records before the one that the sink does not take are not sent again. */
  let batchRows = BATCH_ROWS_MAX;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    let backOffMs = backOffMinMs;
    while (!closing.signal.aborted) {
      try {
        if (await leases.acquire(LEASE, owner, LEASE_MS)) await send();
        oldestAt = null;
        if (failure !== null) onRecovery();
        failure = null;
        backOffMs = backOffMinMs;
        await delay(idleMs, closing.signal);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (failure === null) onFailure(reason);
        failure = reason;
        oldestAt = await readOldest().catch(() => oldestAt);
        batchRows = 1;
        await delay(backOffMs, closing.signal);
        backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS);
      }
    }
    await leases.release(LEASE, owner).catch(() => {});
  }

  async function readOldest(): Promise<number | null> {
    const [row] = await store.readAfter((await store.readSink(target.name))?.seq ?? 0, 1);
    return row?.at ?? null;
  }

  /** Sends all records that are there. Returns early if another process has moved the position. */
  async function send(): Promise<void> {
    const stored = await store.readSink(target.name);
    let place = await findPlace(stored);
    let from = stored?.seq ?? null;
    while (!closing.signal.aborted) {
      const floor = (await store.readFloor())?.seq ?? 0;
      if (floor > place) {
        // A sink that has never taken a record begins with the oldest one.
        if (place > 0) onSkipped(floor - place);
        place = floor;
      }
      const rows = takeBatch(await store.readAfter(place, batchRows));
      const last = rows.at(-1);
      if (last === undefined || !(await leases.acquire(LEASE, owner, LEASE_MS))) return;
      oldestAt = rows[0]?.at ?? null;
      await target.write(rows).catch((error: Error) => {
        throw new Error(`record ${place + 1}: ${error.message}`, { cause: error });
      });
      batchRows = Math.min(batchRows * 2, BATCH_ROWS_MAX);
      if (!(await store.moveSink(target.name, from, last))) return;
      from = last.seq;
      place = last.seq;
    }
  }

  /** The number of the last record that need not be sent again. */
  async function findPlace(stored: AuditPosition | null): Promise<number> {
    const found = await target.findLast();
    if (found === null) return stored?.seq ?? 0;
    // What the sink has may be of another chain. Then only the store knows the place.
    const [row] = await store.readAfter(found.seq - 1, 1);
    const isKnown = row?.seq === found.seq && Buffer.compare(row.hash, found.hash) === 0;
    return isKnown ? found.seq : (stored?.seq ?? 0);
  }

  return {
    get failure() {
      return failure;
    },
    get oldestAt() {
      return oldestAt;
    },
    start() {
      running ??= run();
    },
    async close() {
      closing.abort();
      await waitFor(Promise.resolve(running), { timeoutMs: CLOSE_TIMEOUT_MS });
      // Ends a write that takes longer.
      await target.close();
      await running;
    },
  };
}

function takeBatch(rows: readonly AuditRow[]): AuditRow[] {
  let length = 0;
  const end = rows.findIndex(({ record }) => {
    length += record.length;
    return length > BATCH_LENGTH_MAX;
  });
  return rows.slice(0, end === -1 ? rows.length : Math.max(1, end));
}
