/**
 * Whether the SQLite file can be written: from how the last write ended, from its place, and from the room on its disk.
 * After a write that failed it writes a little itself until that succeeds. Knows neither threads nor what is written.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { DISK_FULL, describeFailure, isDamage, isTrouble } from './failures.ts';
import { watchPlace } from './file-identity.ts';

export interface Writability {
  /** For the operator; null where the file can be written, as far as is known. */
  readonly trouble: string | null;
  /** To be called before each write. Throws where it would be lost. */
  check(): void;
  succeeded(): void;
  failed(error: unknown): void;
  /** A read does not tell whether the file can be written, but whether it is damaged. */
  readFailed(error: unknown): void;
  close(): void;
}

const LOOK_MS = 1000;
/** With less room the next checkpoint may fail. */
const ROOM_BYTES_MIN = 1024 * 1024;

/** `tryWrite` lets the statement have its turn among the writes, and tells how it ended as of any write. */
export function watchWritability(
  file: string,
  database: DatabaseSync,
  tryWrite: (write: () => void) => void,
): Writability {
  const write = database.prepare(
    `INSERT INTO leases (name, owner, ends_at) VALUES ('write check', '', 0)
     ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at`,
  );
  const findPlaceTrouble = watchPlace(file);
  let damage: string | null = null;
  let writeTrouble: string | null = null;
  let diskTrouble: string | null = null;
  let placeTrouble: string | null = null;

  function noteDamage(error: unknown): void {
    if (isDamage(error)) damage = describeFailure(error);
  }

  function look(): void {
    placeTrouble = findPlaceTrouble();
    diskTrouble = hasRoom(dirname(file)) ? null : DISK_FULL;
    if (writeTrouble !== null) tryWrite(() => void write.run());
  }

  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    get trouble() {
      return damage ?? placeTrouble ?? writeTrouble ?? diskTrouble;
    },
    check() {
      placeTrouble = findPlaceTrouble();
      if (placeTrouble !== null) throw new StoreError(placeTrouble);
    },
    succeeded() {
      writeTrouble = null;
    },
    failed(error) {
      noteDamage(error);
      if (isTrouble(error)) writeTrouble = describeFailure(error);
    },
    readFailed: noteDamage,
    close: () => clearInterval(timer),
  };
}

function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize, blocks } = statfsSync(directory);
    // Some file systems do not tell.
    return blocks === 0 || bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return true;
  }
}
