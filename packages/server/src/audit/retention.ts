/**
 * Removes records older than the retention time, at the start and then every hour, in one process at a time. The chain
 * of the remaining records continues from the last removed row, so it still verifies.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditStore, LeaseStore } from '../stores/ports.ts';

const LEASE = 'audit-retention';
/** If a process dies while it holds the lease, another takes over in its next run. */
const LEASE_MS = 60_000;
const INTERVAL_MS = 3_600_000;
/** Small, so that other operations of the store run between batches. */
const BATCH_ROWS_MAX = 200;

export interface RetentionOptions {
  store: Pick<AuditStore, 'prune'>;
  leases: LeaseStore;
  clock: () => number;
  retentionMs: number;
  onError: (error: unknown) => void;
}

export interface Retention {
  /** Resolves when the running removal has ended. */
  close(): Promise<void>;
}

export function startRetention({ store, leases, clock, retentionMs, onError }: RetentionOptions): Retention {
  const owner = randomUUID();
  let isClosed = false;
  let running: Promise<void> | null = null;

  function run(): void {
    running ??= prune()
      .catch(onError)
      .finally(() => {
        running = null;
      });
  }

  async function prune(): Promise<void> {
    await nextTurn();
    const before = clock() - retentionMs;
    while (!isClosed && (await leases.acquire(LEASE, owner, LEASE_MS))) {
      if ((await store.prune(before, BATCH_ROWS_MAX)) < BATCH_ROWS_MAX) break;
      await nextTurn();
    }
    await leases.release(LEASE, owner);
  }

  const timer = setInterval(run, INTERVAL_MS).unref();
  run();

  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}
