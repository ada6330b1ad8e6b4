/**
 * The feed of changes that any process makes to a SQLite file. Triggers record the changes in a table. A watching
 * process polls the table at intervals, and at once after a change of its own. Uses of keys, leases and the audit are
 * not recorded, so listeners are not notified of them.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeListener, Store, StoreChange } from '../ports/store.ts';

export interface ChangeFeed extends Pick<Store, 'watch' | 'isWatching'> {
  /** Reports the changes since the last call. */
  poll(): void;
  close(): void;
}

export function openChangeFeed(database: DatabaseSync): ChangeFeed {
  const readLast = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM changes');
  const readAfter = database.prepare('SELECT seq, kind, id FROM changes WHERE seq > ? ORDER BY seq');
  const listeners: ChangeListener[] = [];
  let isOpen = false;
  let seen = 0;
  let isWatching = true;

  function tell(change: StoreChange | null): void {
    for (const listener of listeners) listener(change);
  }

  function poll(): void {
    if (!isOpen) return;
    const before = { seen, isWatching };
    let changes: (StoreChange & { seq: number })[];
    try {
      changes = readAfter.all(seen) as unknown as typeof changes;
      isWatching = true;
    } catch {
      isWatching = false;
      return;
    }
    seen = changes.at(-1)?.seq ?? seen;
    const isComplete = changes.length === seen - before.seen;
    if (!isComplete || !before.isWatching) tell(null);
    else for (const { kind, id } of changes) tell({ kind, id });
  }

  return {
    watch(listener) {
      listeners.push(listener);
      if (isOpen) return;
      try {
        seen = Number(readLast.get()?.['seq']);
      } catch {
        isWatching = false;
      }
      isOpen = true;
    },
    get isWatching() {
      return isWatching;
    },
    poll,
    close() {
      isOpen = false;
      isWatching = false;
    },
  };
}
