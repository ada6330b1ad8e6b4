/**
 * Knows whether the SQLite file can be written: from the result of the last write, from its path, and from the free
 * space on its disk. After a failed write it tries a write at each inspection until one succeeds. Must not know threads
 * and timers.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { DISK_FULL, describeFailure, isDamage, isFileFailure } from './failures.ts';
import { watchFileIdentity } from './file-identity.ts';

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

  function noteDamage(error: unknown): void {
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
      noteDamage(error);
      if (isFileFailure(error)) writeTrouble = describeFailure(error);
    },
    readFailed: noteDamage,
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
