/**
 * Writes values in the background, in batches, one batch after the other. Callers neither wait for a write nor fail
 * because of it. Does not know what is written.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface BatchedWrites<Value> {
  /** Merges a value into the one that waits for this key. */
  add(key: string, value: Value): void;
  /** Writes all waiting values. Rejects with the error of a write, whose batch is not written again. */
  flush(): Promise<void>;
  /** Flushes. Later values are ignored. */
  close(): Promise<void>;
}

export interface BatchedWritesOptions<Value> {
  /** Milliseconds from the first waiting value to its write. The timer does not keep the process alive. */
  delayMs: number;
  /** Maximum number of keys in one write. */
  keysMax: number;
  /** Combines the waiting value of a key with a further one. */
  merge(waiting: Value, added: Value): Value;
  write(batch: ReadonlyMap<string, Value>): unknown;
  /** Receives the errors of writes that no `flush` waits for. */
  onError(error: unknown): void;
}

export function createBatchedWrites<Value>({
  delayMs,
  keysMax,
  merge,
  write,
  onError,
}: BatchedWritesOptions<Value>): BatchedWrites<Value> {
  const waiting = new Map<string, Value>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastWrite: Promise<void> = Promise.resolve();

  function add(key: string, value: Value): void {
    if (isClosed) return;
    const present = waiting.get(key);
    waiting.set(key, present === undefined ? value : merge(present, value));
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch(onError);
    }, delayMs).unref();
  }

  function flush(): Promise<void> {
    // One write after another: awaiting the last one awaits all.
    lastWrite = lastWrite.catch(() => {}).then(writeAll);
    return lastWrite;
  }

  async function writeAll(): Promise<void> {
    while (waiting.size > 0) {
      await write(takeBatch());
      if (waiting.size > 0) await nextTurn();
    }
  }

  function takeBatch(): Map<string, Value> {
    const batch = new Map<string, Value>();
    for (const [key, value] of waiting) {
      batch.set(key, value);
      waiting.delete(key);
      if (batch.size === keysMax) break;
    }
    return batch;
  }

  return {
    add,
    flush,
    close() {
      isClosed = true;
      clearTimeout(timer);
      return flush();
    },
  };
}
