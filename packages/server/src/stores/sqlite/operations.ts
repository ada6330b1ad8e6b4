/**
 * What the thread of the SQLite store can be asked, and the messages that the two threads exchange. Data only: it knows
 * neither SQL nor threads.
 */
import type {
  AuditStore,
  IdempotencyStore,
  InstanceStore,
  KeyStore,
  LeaseStore,
  Store,
  StoreChange,
} from '../ports.ts';
import type { Migration } from './migrations.ts';

/** How an operation is carried out. */
export interface Manner {
  /** Writes run one after the other. Reads do not wait for them. */
  readonly isWrite: boolean;
  /** How long it may wait for the lock of another process. Then it is refused, and has changed nothing. */
  readonly waitMs: number;
  /** How long its caller waits. Then the outcome of a write is unknown. */
  readonly answerMs: number;
}

/** Beyond the wait: the time that a slow disk may take. */
const DISK_MS = 2000;
const READ: Manner = { isWrite: false, waitMs: 5000, answerMs: 5000 + DISK_MS };
/** Reads that may go through all rows, in turns. */
const SCAN: Manner = { isWrite: false, waitMs: 5000, answerMs: 120_000 };
const PROBE: Manner = { isWrite: false, waitMs: 500, answerMs: 500 };
const WRITE: Manner = { isWrite: true, waitMs: 5000, answerMs: 5000 + DISK_MS };
/** What is tried again anyway, and claims: a call waits a second for its claim. */
const QUICK_WRITE: Manner = { isWrite: true, waitMs: 1000, answerMs: 1000 + DISK_MS };

export interface Parts {
  keys: KeyStore;
  instances: InstanceStore;
  audit: AuditStore;
  idempotency: IdempotencyStore;
  leases: LeaseStore;
  store: Pick<Store, 'probe'>;
}

export type PartName = keyof Parts;

export const OPERATIONS: { readonly [Part in PartName]: Readonly<Record<keyof Parts[Part], Manner>> } = {
  keys: {
    insert: WRITE,
    findById: READ,
    list: SCAN,
    isEmpty: READ,
    update: WRITE,
    revoke: WRITE,
    rotate: WRITE,
    touch: QUICK_WRITE,
    getOrCreateHashSecret: WRITE,
  },
  instances: {
    insert: WRITE,
    findByName: READ,
    list: SCAN,
    replace: WRITE,
    remove: WRITE,
    countByMasterKey: SCAN,
  },
  audit: {
    append: QUICK_WRITE,
    readAfter: READ,
    search: READ,
    readHead: READ,
    readFloor: READ,
    prune: QUICK_WRITE,
  },
  idempotency: {
    find: READ,
    claim: QUICK_WRITE,
    extend: QUICK_WRITE,
    complete: QUICK_WRITE,
    markUnknown: QUICK_WRITE,
    release: QUICK_WRITE,
    measure: READ,
    prune: QUICK_WRITE,
  },
  leases: { acquire: QUICK_WRITE, release: QUICK_WRITE },
  store: { probe: PROBE },
};

/** To the thread of the store. */
export type Request =
  | { ask: number; part: PartName; method: string; args: readonly unknown[]; askedMs: number }
  | { close: true };

/** From the thread of the store. */
export type Reply =
  | { opened: Migration }
  /** The reason; the thread ends. */
  | { refused: string }
  | { answer: number; value: unknown }
  | { answer: number; failure: string }
  | { change: StoreChange | null }
  | { news: News };

/** Sent several times a second, so that a thread that stands still is noticed. */
export interface News {
  isWatching: boolean;
  trouble: string | null;
}

export const NEWS_MS = 250;

/** A clock that never goes back and is the same in all threads of the process. */
export function readMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}
