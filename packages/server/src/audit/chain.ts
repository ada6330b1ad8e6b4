/**
 * The hash of one row of the audit: over the row before it, so that no row can be changed, taken out or put in without
 * the key. Pure.
 */
import { createHmac, createSecretKey } from 'node:crypto';

export type HashRow = (before: Uint8Array, seq: number, record: string) => Uint8Array;

/** HMAC-SHA256 of the hash before (32 bytes), the number (8 bytes, big-endian) and the record's text. */
export function createRowHash(chainKey: Uint8Array): HashRow {
  const key = createSecretKey(chainKey);
  return (before, seq, record) => {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(seq));
    return createHmac('sha256', key).update(before).update(number).update(record).digest();
  };
}
