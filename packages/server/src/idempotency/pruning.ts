/**
 * Removes expired idempotency keys every minute, in small batches. Every process does this. What one process removed costs
 * the others one look-up in an index.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IdempotencyStore } from '../stores/ports.ts';

const INTERVAL_MS = 60_000;
/** Small, so that other operations of the store run in between, even if the answers are large. */
const BATCH_ROWS_MAX = 20;

export function startPruning(
  store: Pick<IdempotencyStore, 'prune'>,
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  let isClosed = false;
  let running: Promise<void> | null = null;

  async function prune(): Promise<void> {
    while (!isClosed && (await store.prune(BATCH_ROWS_MAX)) === BATCH_ROWS_MAX) await nextTurn();
  }

  const timer = setInterval(() => {
    running ??= prune()
      .catch(onError)
      .finally(() => {
        running = null;
      });
  }, INTERVAL_MS).unref();

  return {
    /** Resolves when no removal is running. */
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}
