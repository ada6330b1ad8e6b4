/** Describes failures of SQLite and of the file system for operators: what is wrong and what to do. Does no I/O. */
import { StoreError } from '../store-error.ts';

export const SQLITE_BUSY = 5;

export function describeFailure(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  if (isTaken(error)) return 'it has a row of that id or name already.';
  const sqliteCode = readSqliteCode(error);
  const fileCode = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = sqliteCode === undefined ? FILE_FAILURES[fileCode] : SQLITE_FAILURES[sqliteCode];
  return known ?? (error instanceof Error ? error.message : String(error));
}

/** The primary result code: the lowest 8 bits of the extended one (sqlite.org/rescode.html). */
export function readSqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}

/** Whether the cause of the failure is the file, so that other writes fail too. */
export function isFileFailure(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  const code = readSqliteCode(error);
  return code !== undefined && FILE_FAILURE_CODES.has(code);
}

/** Whether the content of the file is damaged. It stays damaged even if a later operation succeeds. */
export function isDamage(error: unknown): boolean {
  const code = readSqliteCode(error);
  return code !== undefined && DAMAGE_CODES.has(code);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && TAKEN_CODES.has(error.errcode);
}

/** SQLITE_PERM, _BUSY, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB. */
const FILE_FAILURE_CODES: ReadonlySet<number> = new Set([3, 5, 8, 10, 11, 13, 14, 26]);
/** SQLITE_CORRUPT, _NOTADB. */
const DAMAGE_CODES: ReadonlySet<number> = new Set([11, 26]);
/** SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID. */
const TAKEN_CODES: ReadonlySet<unknown> = new Set([1555, 2067, 2579]);

const NOT_WRITABLE =
  'this user may not write the file or its directory. Change their owner or mode, or set store.url to another place.';
export const DISK_FULL = 'the disk is full. Free some space.';

const FILE_FAILURES: Record<string, string> = {
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: 'the file system is read-only. Set store.url to a place that can be written.',
  ENOTDIR: 'a part of its path is a file. Set store.url to a path of directories.',
  ENOENT: 'its directory cannot be made there. Set store.url to another place.',
  ENOSPC: DISK_FULL,
  ENAMETOOLONG: 'its path is too long. Set store.url to a shorter one.',
  ELOOP: 'its path has symbolic links that lead to themselves. Set store.url to another place.',
};

const SQLITE_FAILURES: Record<number, string> = {
  [SQLITE_BUSY]: 'another process keeps it locked. Try again when that process has ended.',
  8: NOT_WRITABLE,
  10: 'its disk fails to read or write. See the log of the system.',
  11: 'the file is damaged. Restore it from a backup.',
  13: DISK_FULL,
  14: 'it cannot be opened. Set store.url to a file, not a directory, in a place where this user may write.',
  26: 'the file is not a SQLite database. Set store.url to another file, or move this one away.',
};
