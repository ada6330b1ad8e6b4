/**
 * Notices before client keys expire: some days before, three days before, and at the end. Reads the keys from the store
 * about once a minute, never during a call. Of all processes that share the store, one gives each notice. Does not know
 * who receives them.
 */
import { randomUUID } from 'node:crypto';
import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { EndingKey, KeyStore, LeaseStore } from '@erp-proxy/stores/ports';

/** A client key that expires soon, or expired within the last day. */
export interface ExpiryNotice {
  kind: 'expiring' | 'expired';
  keyId: string;
  clientId: string;
  name: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export interface DueNotice extends ExpiryNotice {
  /** Identifies the notice in every process: id of the key, its end, and the days between notice and end. */
  notice: string;
}

export interface ExpiryNoticesOptions {
  store: Pick<KeyStore, 'listEnding'>;
  leases: Pick<LeaseStore, 'acquire'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Number of days before its end from which a key counts as expiring; 0: no notices. */
  noticeDays: number;
  onNotice: (notice: ExpiryNotice) => void;
  onError: (error: unknown) => void;
}

export interface ExpiryNotices {
  /** Checks the keys now, and then about once a minute. */
  start(): void;
  /**
   * The latest notice of each key that ends soon or has ended, whether given or not. Null: notices are off. Rejects if
   * the store fails.
   */
  listDue(): Promise<readonly DueNotice[] | null>;
  /** As `listDue`. `isCut`: more keys end than are checked. */
  readDue(): Promise<{ due: readonly DueNotice[]; isCut: boolean } | null>;
  /** Checks the keys once. Rejects if the store fails. */
  check(): Promise<void>;
  /** The notices that were due at the last check, in the order of the ends of their keys, at most 1,000. */
  states(): readonly ExpiryNotice[];
  /** Warning for `/readyz`, without names; null if no key expires soon. */
  warning(): string | null;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Number of days before the end of a key at which the second notice is due. */
export const LAST_NOTICE_DAYS = 3;
const INTERVAL_MS = 60_000;
/** Maximum number of checked keys. If more keys end, those that end last get their notices later. */
const KEYS_MAX = 1000;

export function createExpiryNotices(options: ExpiryNoticesOptions): ExpiryNotices {
  const { store, leases, clock, noticeDays, onNotice, onError } = options;
  const timesDays = [noticeDays, ...(noticeDays > LAST_NOTICE_DAYS ? [LAST_NOTICE_DAYS] : []), 0];
  /** The owner for each lease that was requested; null: the store has answered. */
  const owners = new Map<string, string | null>();
  let states: ExpiryNotice[] = [];
  let task: PeriodicTask | undefined;

  async function listDue(): Promise<readonly DueNotice[] | null> {
    return (await readDue())?.due ?? null;
  }

  async function readDue(): ReturnType<ExpiryNotices['readDue']> {
    if (noticeDays === 0) return null;
    const now = clock();
    // The first notice is due at this moment, and `listEnding` lists keys that expire before its end.
    const until = now + noticeDays * DAY_MS + 1;
    const keys = await store.listEnding(now - DAY_MS, until, KEYS_MAX + 1);
    const due = keys.slice(0, KEYS_MAX).flatMap((key) => {
      const timeDays = findNoticeTime(key, timesDays, now);
      if (timeDays === undefined) return [];
      return [{ notice: `${key.id}:${key.expiresAt}:${timeDays}`, ...describeKey(key, now) }];
    });
    return { due, isCut: keys.length > KEYS_MAX };
  }

  async function check(): Promise<void> {
    const present = await listDue();
    if (present === null) return;
    states = present.map(({ notice: _, ...state }) => state);
    const names = new Set<string>();
    for (const [index, { notice, expiresAt }] of present.entries()) {
      const name = `key-notice:${notice}`;
      names.add(name);
      // The owner stays the same until the store answers: a lease may have been stored although the answer was lost.
      // Each lease has a new owner, because a process can acquire its own lease again.
      const asked = owners.get(name);
      if (asked === null) continue;
      const owner = asked ?? randomUUID();
      owners.set(name, owner);
      const isAcquired = await leases.acquire(name, owner, expiresAt + 2 * DAY_MS - clock());
      owners.set(name, null);
      if (isAcquired) onNotice(states[index] as ExpiryNotice);
    }
    for (const name of owners.keys()) if (!names.has(name)) owners.delete(name);
  }

  return {
    start() {
      if (noticeDays === 0) return;
      task = startPeriodicTask(check, { intervalMs: INTERVAL_MS, onError });
      task.run();
    },
    listDue,
    readDue,
    check,
    states: () => states,
    warning() {
      const expired = states.filter(({ kind }) => kind === 'expired').length;
      const expiring = states.length - expired;
      if (states.length === 0) return null;
      return `client keys: ${expired} expired within a day, ${expiring} to expire within ${noticeDays} days; see the list of keys`;
    },
    async close() {
      await task?.close();
    },
  };
}

/**
 * The time of the last notice that is due, in days before the end of the key. Undefined if no notice is due. A key that
 * was created after the time of a notice gets no such notice: its creator knows its end.
 */
function findNoticeTime(key: EndingKey, timesDays: readonly number[], now: number): number | undefined {
  const { createdAt, expiresAt, replaces, isReplaced } = key;
  const timeDays = timesDays.findLast((days) => now >= expiresAt - days * DAY_MS);
  // A rotated key is meant to end. Its end matters only if the key is still in use.
  if (isReplaced) return timeDays === 0 && isInUse(key) ? timeDays : undefined;
  // A successor ends when its predecessor would have ended, which its client may not know.
  if (timeDays === undefined || timeDays === 0 || replaces !== null) return timeDays;
  return createdAt <= expiresAt - timeDays * DAY_MS ? timeDays : undefined;
}

/** Whether the key was used in the last day before its end. */
function isInUse({ lastUsedAt, expiresAt }: EndingKey): boolean {
  return lastUsedAt !== null && lastUsedAt > expiresAt - DAY_MS;
}

function describeKey({ id, clientId, name, expiresAt }: EndingKey, now: number): ExpiryNotice {
  return { kind: expiresAt <= now ? 'expired' : 'expiring', keyId: id, clientId, name, expiresAt };
}
