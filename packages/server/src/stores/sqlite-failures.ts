/**
 * What went wrong with a SQLite file, in words for the operator: from the codes of SQLite and of the file system. Does
 * no I/O.
 */
import { StoreError } from './store-error.ts';

export const SQLITE_BUSY = 5;

export function describeFailure(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  const sqliteCode = readSqliteCode(error);
  const fileCode = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = sqliteCode === undefined ? FILE_FAILURES[fileCode] : SQLITE_FAILURES[sqliteCode];
  return known ?? (error instanceof Error ? error.message : String(error));
}

/** The primary result code; the upper bits hold the extended one (sqlite.org/rescode.html). */
export function readSqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}

const NOT_WRITABLE =
  'this user may not write the file or its directory. Change their owner or mode, or set store.url to another place.';
const DISK_FULL = 'the disk is full. Free some space.';

const FILE_FAILURES: Record<string, string> = {
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: 'the file system is read-only. Set store.url to a place that can be written.',
  ENOTDIR: 'a part of its path is a file. Set store.url to a path of directories.',
  EEXIST: 'its directory is a file. Set store.url to a path of directories.',
  ENOENT: 'its directory cannot be made there. Set store.url to another place.',
  ENOSPC: DISK_FULL,
};

const SQLITE_FAILURES: Record<number, string> = {
  [SQLITE_BUSY]: 'another process keeps it locked. End that process, or try again.',
  8: NOT_WRITABLE,
  11: 'the file is damaged. Restore it from a backup.',
  13: DISK_FULL,
  14: 'it cannot be opened. Set store.url to a file, not a directory, in a place where this user may write.',
  26: 'the file is not a SQLite database. Set store.url to another file, or move this one away.',
};
