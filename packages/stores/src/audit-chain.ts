/**
 * The hash chain of the audit. The hash of each row covers the row before it, so that no row can be changed, removed or
 * inserted without the key. Pure.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import type { AuditBatch, AuditPosition, AuditRow } from './ports/audit.ts';
import { StoreError } from './store-error.ts';

/** The largest number of a row. Larger numbers in the store are read as this one. */
export const SEQ_MAX = Number.MAX_SAFE_INTEGER - 1;

/** Reason for operators why nothing can be appended: the row of `audit_chain` is missing. */
export const CHAIN_LOST =
  'the table audit_chain has lost its row, which says where the audit ends. Restore the store from a backup.';

/** Reason for operators why nothing can be appended: the row of `audit_chain` has impossible values. */
const CHAIN_CHANGED =
  'the row of the table audit_chain, which says where the audit ends, was changed. Restore the store from a backup.';

/** The rows of a batch that is appended after `head`. Throws a {@link StoreError}. */
export function chainRows({ records, chainKey }: AuditBatch, head: AuditPosition): AuditRow[] {
  if (head.seq < 0 || head.seq > SEQ_MAX - records.length) {
    throw new StoreError(`The audit cannot be written: ${CHAIN_CHANGED}`, { reason: CHAIN_CHANGED });
  }
  let last = head;
  return records.map(({ at, record }) => {
    const seq = last.seq + 1;
    last = { seq, hash: hashRow(chainKey, last.hash, seq, record) };
    return { ...last, at, record };
  });
}

/**
 * HMAC-SHA256 of the hash of the row before (32 bytes, zeros for the first row), the number (8 bytes, big-endian) and
 * the text of the record.
 */
export function hashRow(chainKey: KeyObject, before: Uint8Array, seq: number, record: string): Uint8Array {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(seq));
  return createHmac('sha256', chainKey).update(before).update(number).update(record).digest();
}
