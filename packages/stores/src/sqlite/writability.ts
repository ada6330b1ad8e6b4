/**
 * Knows whether the SQLite file can be written: from the result of the last write, from its path, and from the free
 * space on its disk. After a failed write it tries a write at each inspection until one succeeds. Must not know threads
 * and timers.
 */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { DISK_FULL, describeFailure, isDamage, isFileFailure } from './failures.ts';

export interface Writability {
  /** Reason for operators; null: the file can be written, as far as is known. */
  readonly trouble: string | null;
  /** Must be called before each write. Throws a {@link StoreError} if the write would be lost. */
  check(): void;
  failed(error: unknown): void;
  /** Must be called after a failed read, which can show that the file is damaged. */
  readFailed(error: unknown): void;
  /** Must be called at intervals. */
  inspect(): void;
}

/** If less space than this is free, the next checkpoint may fail. */
const FREE_BYTES_MIN = 1024 * 1024;

/** Size of a batch of audit records: a smaller write may succeed where others fail. */
const TRIAL_BYTES = 64 * 1024;

/** `tryWrite` queues `write`, and reports a failure like that of any other write. */
export function watchWritability(
  file: string,
  database: DatabaseSync,
  tryWrite: (write: () => void, onDone: () => void) => void,
): Writability {
  // Random, because SQLite does not write a page whose content stays the same.
  const write = database.prepare(
    `INSERT INTO leases (name, owner, ends_at) VALUES ('write check', hex(randomblob(${TRIAL_BYTES / 2})), 0)
     ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, ends_at = excluded.ends_at`,
  );
  const findIdentityTrouble = watchFileIdentity(file);
  let damage: string | null = null;
  let writeTrouble: string | null = null;
  let diskTrouble: string | null = null;
  let identityTrouble: string | null = null;

  function recordDamage(error: unknown): void {
    if (isDamage(error)) damage = describeFailure(error);
  }

  function inspect(): void {
    identityTrouble = findIdentityTrouble();
    diskTrouble = hasFreeSpace(dirname(file)) ? null : DISK_FULL;
    if (writeTrouble === null) return;
    tryWrite(
      () => void write.run(),
      () => {
        writeTrouble = null;
      },
    );
  }

  inspect();
  return {
    get trouble() {
      return damage ?? identityTrouble ?? writeTrouble ?? diskTrouble;
    },
    check() {
      identityTrouble = findIdentityTrouble();
      if (identityTrouble !== null) throw new StoreError(identityTrouble);
    },
    failed(error) {
      recordDamage(error);
      if (isFileFailure(error)) writeTrouble = describeFailure(error);
    },
    readFailed: recordDamage,
    inspect,
  };
}

function hasFreeSpace(directory: string): boolean {
  try {
    const { bavail, bsize, blocks } = statfsSync(directory);
    // Some file systems report no blocks.
    return blocks === 0 || bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return true;
  }
}

const GONE =
  'its file was moved or deleted while it is in use. Put it back, or stop the proxy and restore a backup.';
const REPLACED = 'another file has taken its place while it is in use. Restart the proxy to use that file.';
const UNSHARED =
  'its -wal or -shm file was moved or deleted while it is in use. Put it back, or restart the proxy at once: a stop writes the changes into the file.';

interface Identity {
  dev: bigint;
  ino: bigint;
}

/**
 * Checks that the paths of the store still lead to the files that are open. Writes to a file that was moved or deleted
 * are lost after a restart. Without its -wal and -shm files, other processes do not see the writes and locks of this
 * one, and damage the file (sqlite.org/howtocorrupt.html, 2.4). Must be called when the file is open. Returns a
 * function that gives the reason for operators if the paths lead to other files or to none, and null otherwise.
 */
function watchFileIdentity(file: string): () => string | null {
  const opened = readIdentity(file);
  const companions = [`${file}-wal`, `${file}-shm`].map((path) => ({ path, opened: readIdentity(path) }));
  return () => {
    const now = readIdentity(file);
    if (now === undefined) return GONE;
    if (!isSame(opened, now)) return REPLACED;
    return companions.every(({ path, opened }) => isSame(opened, readIdentity(path))) ? null : UNSHARED;
  };
}

/** Whether both are the same file. True also if one of the two is not known. */
function isSame(opened: Identity | undefined | null, now: Identity | undefined | null): boolean {
  if (opened === null || opened === undefined || now === null) return true;
  return now?.ino === opened.ino && now.dev === opened.dev;
}

/** The identity of a file. Undefined: there is no file. Null: it cannot be determined. */
function readIdentity(file: string): Identity | undefined | null {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
}
