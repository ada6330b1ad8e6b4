/** For tests: batches of the audit. */
import { createSecretKey, randomUUID } from 'node:crypto';
import type { AuditBatch } from './ports/audit.ts';

export const CHAIN_KEY = createSecretKey(Buffer.alloc(32, 1));

export function makeBatch(...records: AuditBatch['records']): AuditBatch {
  return { id: randomUUID(), records, chainKey: CHAIN_KEY };
}
