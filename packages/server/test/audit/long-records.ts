/** Makes an audit of actions on keys with long policies. */

import { type Audit, createAudit } from '@erp-proxy/control/audit';
import { makeAdminAction } from '@erp-proxy/control/testing';
import { CHAIN_KEY, openMemoryStore } from '@erp-proxy/stores/testing';
import { expect } from 'vitest';

/** The number of actions. */
export const ACTIONS = 500;

export async function openLongRecords(): Promise<Audit> {
  const store = openMemoryStore();
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => Date.parse('2026-03-31T08:00:00.000Z'),
    retentionMs: null,
    onError: (error) => expect.unreachable(String(error)),
    onLost: (records) => expect.unreachable(`${records} lost`),
  });
  const names = Array.from({ length: 300 }, (_, index) => `sale.model.number${index}`);
  const policy = {
    instances: ['prod'],
    models: Object.fromEntries(names.map((name) => [name, ['read', 'search_read']])),
  };
  const action = makeAdminAction({ action: 'key.create', changes: { policy: { from: null, to: policy } } });
  for (let actions = 0; actions < ACTIONS; actions++) await audit.recordAdminAction(action);
  return audit;
}
