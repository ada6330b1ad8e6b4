/** Changes one version of a row: the given one, or the newest. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VersionTag } from '@erp-proxy/contract';
import type { Change } from '../stores/ports.ts';
import { type AdminError, createAdminError } from './admin-error.ts';

/** Only concurrent administrators come near it. */
const ATTEMPTS_MAX = 5;
/** Upper bound of the random pause between two attempts, so that conflicting changes do not meet again. */
const PAUSE_MS_MAX = 50;

interface Versioned {
  readonly version: number;
  readonly createdAt: number;
}

/** Returns the row as it was before. After a conflict, `change` runs again on the row's next version. */
export async function changeRow<Row extends Versioned>(
  find: () => Promise<Row>,
  tag: VersionTag | undefined,
  change: (row: Row) => Promise<Change>,
): Promise<Row> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const row = await find();
    if (tag !== undefined && !hasVersion(row, tag)) throw createStaleError(row.version, tag);
    if ((await change(row)) === 'done') return row;
    if (attempt < ATTEMPTS_MAX) await sleep(Math.random() * PAUSE_MS_MAX);
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
