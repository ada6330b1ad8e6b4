/**
 * Reseals all instances under the current master key after that was changed. Safe during concurrent reads, changes and
 * reseals: a row is replaced only if it still has the version that was read.
 */
import type { AuditBatch, InstanceStore, StoredInstance } from '@erp-proxy/stores/ports';
import { openRow, sealRow } from './row.ts';
import { type Vault, VaultError } from './vault.ts';

const PAGE_ROWS = 100;

/** Creates the audit record of a reseal. `masterKeys` are names of master keys. */
export type DescribeReseal = (instance: string, masterKeys: { from: string; to: string }) => AuditBatch;

export interface ResealOptions {
  /** Called with the errors of instances that cannot be opened. */
  onError: (error: unknown) => void;
  describeAction: DescribeReseal;
}

/** Returns the number of resealed instances. */
export async function resealAll(
  rows: InstanceStore,
  vault: Vault,
  { onError, describeAction }: ResealOptions,
): Promise<number> {
  let count = 0;
  for (let after: string | null = null; ; ) {
    const page: StoredInstance[] = await rows.list({ after, limit: PAGE_ROWS });
    for (const row of page) {
      try {
        if (await resealRow(rows, row, vault, describeAction)) count++;
      } catch (error) {
        if (!(error instanceof VaultError)) throw error;
        onError(error);
      }
    }
    if (page.length < PAGE_ROWS) return count;
    after = page.at(-1)?.name ?? null;
  }
}

/**
 * Reseals one row. False if the current master key has sealed it already, or the instance was removed in the meantime.
 */
async function resealRow(
  rows: InstanceStore,
  listed: StoredInstance,
  vault: Vault,
  describeAction: DescribeReseal,
): Promise<boolean> {
  let row: StoredInstance | null = listed;
  while (row !== null && row.masterKeyId !== vault.masterKeyId) {
    const sealed = sealRow(row, openRow(row, vault), vault);
    const auditBatch = describeAction(row.name, { from: row.masterKeyId, to: sealed.masterKeyId });
    const outcome = await rows.replace(row.id, row.version, sealed, auditBatch);
    if (outcome === 'done') return true;
    row = await rows.findByName(listed.name);
  }
  return false;
}
