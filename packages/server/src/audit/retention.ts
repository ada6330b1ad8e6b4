/**
 * Removes records older than the retention time, at the start and then every hour, in one process at a time. The chain
 * of the remaining records continues from the last removed row, so it still verifies.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { AuditStore } from '../stores/ports/audit.ts';
import type { LeaseStore } from '../stores/ports/leases.ts';

const LEASE = 'audit-retention';
/** Duration of the lease. If a process dies while it holds the lease, another process prunes in its next run. */
const LEASE_MS = 60_000;
const INTERVAL_MS = 3_600_000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_ROWS_MAX = 200;

export interface RetentionOptions {
  store: Pick<AuditStore, 'prune'>;
  leases: LeaseStore;
  clock: () => number;
  retentionMs: number;
  onError: (error: unknown) => void;
}

export function startRetention({
  store,
  leases,
  clock,
  retentionMs,
  onError,
}: RetentionOptions): Pick<PeriodicTask, 'close'> {
  const owner = randomUUID();
  const retention = startPeriodicTask(prune, { intervalMs: INTERVAL_MS, onError });
  retention.run();
  return retention;

  async function prune(signal: AbortSignal): Promise<void> {
    await nextTurn();
    const before = clock() - retentionMs;
    while (!signal.aborted && (await leases.acquire(LEASE, owner, LEASE_MS))) {
      if ((await store.prune(before, BATCH_ROWS_MAX)) < BATCH_ROWS_MAX) break;
      await nextTurn();
    }
    await leases.release(LEASE, owner);
  }
}
