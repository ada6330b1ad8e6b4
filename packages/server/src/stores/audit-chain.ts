/**
 * The hash chain of the audit: each row's hash covers the row before it, so that no row can be changed, taken out or
 * put in without the key. Pure.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import type { AuditBatch, AuditPosition, AuditRow } from './ports.ts';
import { StoreError } from './store-error.ts';

/** Numbers from the store are read as at most this. */
export const SEQ_MAX = Number.MAX_SAFE_INTEGER - 1;

/** Why nothing can be appended, for operators. */
export const CHAIN_LOST =
  'the table audit_chain has lost its row, which says where the audit ends. Restore the store from a backup.';

/** The same where that row holds what cannot be. */
const CHAIN_CHANGED =
  'the row of the table audit_chain, which says where the audit ends, was changed. Restore the store from a backup.';

/** The rows of a batch that is appended behind this place. */
export function chainRows({ records, chainKey }: AuditBatch, head: AuditPosition): AuditRow[] {
  if (head.seq < 0 || head.seq > SEQ_MAX - records.length) {
    throw new StoreError(`The audit cannot be written: ${CHAIN_CHANGED}`, { reason: CHAIN_CHANGED });
  }
  let place = head;
  return records.map(({ at, record }) => {
    const seq = place.seq + 1;
    place = { seq, hash: hashRow(chainKey, place.hash, seq, record) };
    return { ...place, at, record };
  });
}

/**
 * HMAC-SHA256 of the hash before (32 bytes, zeros for the first row), the number (8 bytes, big-endian) and the record's
 * text.
 */
export function hashRow(chainKey: KeyObject, before: Uint8Array, seq: number, record: string): Uint8Array {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(seq));
  return createHmac('sha256', chainKey).update(before).update(number).update(record).digest();
}
