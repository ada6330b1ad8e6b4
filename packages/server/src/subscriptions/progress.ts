/** The stored position of a subscription: that of its reader, and the records that can vanish. Pure. */
import type { RecordChange } from './delivery-body.ts';

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

/** The last change of each record, in the order of these changes. */
export function keepLast(changes: readonly RecordChange[]): RecordChange[] {
  const last = new Map<number, RecordChange>();
  for (const change of changes) {
    last.delete(change.id);
    last.set(change.id, change);
  }
  return [...last.values()];
}
