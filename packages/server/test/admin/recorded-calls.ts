/**
 * Makes an audit of many calls, which ended during the last seconds before `NOW`, and a policy that allows some of
 * them.
 */

import { createAudit } from '@erp-proxy/control/audit';
import { makeCall } from '@erp-proxy/control/testing';
import { createRecordCheck } from '@erp-proxy/gateway/call';
import { CHAIN_KEY, openMemoryStore } from '@erp-proxy/stores/testing';
import { expect } from 'vitest';

export const NOW = Date.parse('2026-03-31T08:00:00.000Z');
export const check = createRecordCheck({ instances: ['prod'], models: { 'sale.*': ['*'] } });
export const RANGE = { since: NOW - 1000, until: NOW + 1000 };

export async function openAudit(count: number, model: (index: number) => string) {
  const store = openMemoryStore();
  let now = NOW;
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => now,
    retentionMs: null,
    onError: (error) => expect.unreachable(String(error)),
    onLost: () => {},
  });
  for (let index = 0; index < count; index++) {
    now = NOW - Math.floor((count - index) / 1000);
    audit.recordCall(makeCall({ requestId: `r${index}`, model: model(index) }));
    if (index % 10_000 === 9999) await audit.flush();
  }
  await audit.flush();
  return audit;
}
