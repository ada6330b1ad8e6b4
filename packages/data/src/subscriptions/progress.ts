/** The stored position of a subscription: the state of its reader, and the records that can vanish. Pure. */
import { tryParse } from '@erp-proxy/contract';
import type { IdChanges, IdPart } from '@erp-proxy/stores/ports';
import type { RecordChange } from './delivery-body.ts';
import type { KeyNotice } from './notice-reader.ts';

export interface Progress {
  reader: unknown;
  /** True: the store has the ids of the watched records in parts. */
  hasIdParts?: true;
  /** Where an older version stored the ids. Null or absent: the ids are not known, or the store has them in parts. */
  ids?: number[] | null;
}

/** Maximum number of records whose ids are remembered. */
export const WATCHED_IDS_MAX = 50_000;

/** Null: no change was read yet, or another version of the proxy wrote the text. */
export function parseProgress(text: string | null): Progress | null {
  if (text === null) return null;
  const value = tryParse(text);
  return typeof value === 'object' && value !== null && 'reader' in value ? (value as Progress) : null;
}

/**
 * The watched ids in ascending order: with `gone`, of all records that match; otherwise, of records that were sent as
 * matching. Null: they are not known, because there are too many or no reading was stored.
 */
export function readWatchedIds(progress: Progress | null, stored: string | null): number[] | null {
  if (progress?.hasIdParts === true) return JSON.parse(`[${stored ?? ''}]`);
  return progress?.ids ?? null;
}

export function printProgress(reader: unknown, ids: readonly number[] | null): string {
  const progress: Progress = ids === null ? { reader, ids: null } : { reader, hasIdParts: true };
  return JSON.stringify(progress);
}

/** How many ids a part can have: a part has the ids with the same quotient by this number. */
const PART_IDS = 1024;

/**
 * The parts to store for the ids `after`. `before` is null if the store has no parts. Only the parts of the ids
 * `changed` can differ. Undefined: none does.
 */
export function changeIdParts(
  before: readonly number[] | null,
  after: readonly number[] | null,
  changed: readonly number[],
): IdChanges | undefined {
  if (before === null || after === null) {
    return before === after ? undefined : { replacesAll: true, parts: listParts(after ?? [], after ?? []) };
  }
  const isSame = ({ part, ids }: IdPart) => printPart(before, part) === ids;
  const parts = listParts(after, changed).filter((each) => !isSame(each));
  return parts.length === 0 ? undefined : { replacesAll: false, parts };
}

function listParts(ids: readonly number[], of: readonly number[]): IdPart[] {
  const parts = new Set(of.map((id) => Math.floor(id / PART_IDS)));
  return [...parts].map((part) => ({ part, ids: printPart(ids, part) }));
}

function printPart(ids: readonly number[], part: number): string {
  const first = part * PART_IDS;
  return ids.slice(countUpTo(ids, first - 1), countUpTo(ids, first + PART_IDS - 1)).join();
}

/** Applies the changes to the ascending ids. Unchanged runs are copied as they are: sorting all ids would take long. */
export function followIds(ids: readonly number[], changes: readonly RecordChange[]): readonly number[] {
  const isWatched = new Map(changes.map(({ change, id }) => [id, change === 'upsert']));
  const runs: (readonly number[])[] = [];
  let at = 0;
  for (const id of [...isWatched.keys()].sort((a, b) => a - b)) {
    const next = countUpTo(ids, id);
    runs.push(ids.slice(at, ids[next - 1] === id ? next - 1 : next));
    if (isWatched.get(id)) runs.push([id]);
    at = next;
  }
  return [...runs, ids.slice(at)].flat();
}

/** The first `count` ids above `after`, or the first of all if none is above it. `ids` must be ascending. */
export function takeIdsAfter(ids: readonly number[], after: number, count: number): readonly number[] {
  const next = countUpTo(ids, after);
  const first = next === ids.length ? 0 : next;
  return ids.slice(first, first + count);
}

/** `ids` must be ascending. */
export function includesId(ids: readonly number[], id: number): boolean {
  return ids[countUpTo(ids, id) - 1] === id;
}

/** Number of ids that are not above `id`. `ids` must be ascending. */
function countUpTo(ids: readonly number[], id: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A notice that was read, and the time at which its key ends. */
type SeenNotice = readonly [notice: string, expiresAt: number];

const DAY_MS = 86_400_000;
/** Longer than the day after the end of a key in which its notices are due. */
const SEEN_KEPT_MS = 2 * DAY_MS;
/** Maximum number of remembered notices that are not due. */
const SEEN_KEPT_MAX = 5000;

/** Null: no notice was read yet. */
export function readSeenNotices(progress: Progress | null): readonly SeenNotice[] | null {
  return Array.isArray(progress?.reader) ? progress.reader : null;
}

/**
 * The seen notices and those that are due now. Notices that are not due are kept until their key has ended for some
 * time: they are due again if a clock goes back, or for a process whose clock is behind.
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

/** The last change of each record, in the order of these last changes. */
export function keepLast(changes: readonly RecordChange[]): RecordChange[] {
  const last = new Map<number, RecordChange>();
  for (const change of changes) {
    last.delete(change.id);
    last.set(change.id, change);
  }
  return [...last.values()];
}
