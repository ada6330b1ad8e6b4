/**
 * Removes expired idempotency keys every minute, in small batches. Every process does this. If another process has
 * removed the keys, it costs one look-up in an index.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { IdempotencyStore } from '@erp-proxy/stores/ports';

const INTERVAL_MS = 60_000;
/** Small, so that other operations of the store run between two batches, even if the answers are large. */
const BATCH_ROWS_MAX = 20;

export function startPruning(
  store: Pick<IdempotencyStore, 'prune'>,
  onError: (error: unknown) => void,
): Pick<PeriodicTask, 'close'> {
  return startPeriodicTask(
    async (signal) => {
      while (!signal.aborted && (await store.prune(BATCH_ROWS_MAX)) === BATCH_ROWS_MAX) await nextTurn();
    },
    { intervalMs: INTERVAL_MS, onError },
  );
}
