/**
 * Removes records that are older than they are kept, at the start and then every hour, in one process at a time. What is
 * left goes on from the last row removed, so it still verifies.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditStore, LeaseStore } from '../stores/ports.ts';

const LEASE = 'audit-retention';
/** Of a process that dies with the lease, another takes over at its next turn. */
const LEASE_MS = 60_000;
const INTERVAL_MS = 3_600_000;
/** Small, so that other operations of the store run in between. */
const BATCH_ROWS_MAX = 200;

export interface RetentionOptions {
  store: Pick<AuditStore, 'prune'>;
  leases: LeaseStore;
  clock: () => number;
  retentionMs: number;
  onError: (error: unknown) => void;
}

export interface Retention {
  /** Resolves when nothing is being removed any more. */
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
