/** Changes one version of a row: the given one, or the newest. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VersionTag } from '@erp-proxy/contract';
import type { Change } from '@erp-proxy/stores/ports';
import { type AdminError, createAdminError } from './admin-error.ts';

/**
 * Each conflict means that another change was made. So up to this many concurrent changes succeed, on all replicas
 * together.
 */
const ATTEMPTS_MAX = 100;
/** Upper bound of the random pause between two attempts, so that conflicting changes do not meet again. */
const PAUSE_MS_MAX = 20;

interface Versioned {
  readonly version: number;
  readonly createdAt: number;
}

/** Returns the row before the change. After a conflict, `change` runs again on the row's next version. */
export function changeRow<Row extends Versioned>(
  find: () => Promise<Row>,
  tag: VersionTag | undefined,
  change: (row: Row) => Promise<Change>,
): Promise<Row> {
  return retryConflicts(async () => {
    const row = await find();
    if (tag !== undefined && !hasVersion(row, tag)) throw createStaleError(row.version, tag);
    return (await change(row)) === 'done' ? row : 'conflict';
  });
}

/** Repeats an attempt as long as another change was made between its read and its write. */
export async function retryConflicts<Result>(
  attempt: () => Promise<Result | 'conflict'>,
): Promise<Exclude<Result, 'conflict'>> {
  for (let attempts = 1; attempts <= ATTEMPTS_MAX; attempts++) {
    const result = await attempt();
    if (result !== 'conflict') return result as Exclude<Result, 'conflict'>;
    if (attempts < ATTEMPTS_MAX) await sleep(Math.random() * PAUSE_MS_MAX);
  }
  throw createAdminError(409, 'Others are changing it at the same time: try again.');
}

export function hasVersion(row: Versioned, { version, createdAt }: VersionTag): boolean {
  return row.version === version && (createdAt === null || row.createdAt === createdAt);
}

export function createStaleError(version: number, wanted: VersionTag): AdminError {
  const reason =
    version === wanted.version
      ? 'It was removed, and one of the same name was added'
      : `It is at version ${version} by now, not ${wanted.version}`;
  return createAdminError(412, `${reason}: read it again, then change that.`);
}
