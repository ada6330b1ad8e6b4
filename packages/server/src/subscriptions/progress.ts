/** The stored position of a subscription: that of its reader, and the records that can vanish. Pure. */
import type { RecordChange } from './delivery-body.ts';
import type { KeyNotice } from './notice-reader.ts';

export interface Progress {
  reader: unknown;
  /** Ids of the records that match, ascending; only with `gone`. */
  ids?: number[];
}

/** Records that can be watched for their end. */
export const WATCHED_IDS_MAX = 50_000;

/** Null: nothing was read yet, or another version of the proxy wrote it. */
export function parseProgress(text: string | null): Progress | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('reader' in value)) return null;
    return value as Progress;
  } catch {
    return null;
  }
}

/** The ids after the changes. */
export function followIds(ids: readonly number[], changes: readonly RecordChange[]): number[] {
  if (changes.length === 0) return [...ids];
  const known = new Set(ids);
  for (const { change, id } of changes) {
    if (change === 'upsert') known.add(id);
    else known.delete(id);
  }
  return [...known].sort((a, b) => a - b);
}

/** A notice that was seen, and when its key ends. */
type SeenNotice = readonly [notice: string, expiresAt: number];

const DAY_MS = 86_400_000;
/** No notice is due a day after the end of its key. */
const SEEN_KEPT_MS = 2 * DAY_MS;
/** Maximum number that is kept of those that are not due. */
const SEEN_KEPT_MAX = 5000;

/** Null: nothing was read yet. */
export function readSeenNotices(progress: Progress | null): readonly SeenNotice[] | null {
  return Array.isArray(progress?.reader) ? progress.reader : null;
}

/**
 * The notices that were seen, with those that are due now. Others are kept until their key has ended for some time:
 * they are due again if a clock goes back, or for a process whose clock is behind.
 */
export function followNotices(
  seen: readonly SeenNotice[],
  due: readonly KeyNotice[],
  now: number,
): SeenNotice[] {
  const isDue = new Set(due.map(({ notice }) => notice));
  const others = seen.filter(([notice, expiresAt]) => !isDue.has(notice) && expiresAt + SEEN_KEPT_MS > now);
  return [
    ...others.slice(-SEEN_KEPT_MAX),
    ...due.map(({ notice, expiresAt }): SeenNotice => [notice, expiresAt]),
  ];
}

/** The last change of each record, in the order of these changes. */
export function keepLast(changes: readonly RecordChange[]): RecordChange[] {
  const last = new Map<number, RecordChange>();
  for (const change of changes) {
    last.delete(change.id);
    last.set(change.id, change);
  }
  return [...last.values()];
}
