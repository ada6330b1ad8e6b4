/**
 * The store that forgets at exit: for tests, demos and trials. Must behave as the lasting ones do; the contract suite
 * holds it to that.
 */

import type { AuditBatch, ChangeListener, LeaseStore, Store } from '../ports.ts';
import { createMemoryAudit } from './audit.ts';
import { createMemoryIdempotency } from './idempotency.ts';
import { createMemoryInstances } from './instances.ts';
import { createMemoryKeys } from './keys.ts';

export function openMemoryStore(): Store {
  const listeners: ChangeListener[] = [];
  const tell: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  const audit = createMemoryAudit();
  const appendAct = (act: AuditBatch | undefined) => act && void audit.append(act);
  return {
    label: 'memory',
    keys: createMemoryKeys(tell, appendAct),
    instances: createMemoryInstances(tell, appendAct),
    audit,
    idempotency: createMemoryIdempotency(Date.now),
    leases: createMemoryLeases(),
    watch: (listener) => void listeners.push(listener),
    isWatching: true,
    trouble: null,
    probe() {},
    close() {},
  };
}

function createMemoryLeases(): LeaseStore {
  const leases = new Map<string, { owner: string; endsAt: number }>();
  return {
    acquire(name, owner, ttlMs) {
      const lease = leases.get(name);
      const now = Date.now();
      if (lease && lease.owner !== owner && lease.endsAt > now) return false;
      leases.set(name, { owner, endsAt: now + ttlMs });
      return true;
    },
    release(name, owner) {
      if (leases.get(name)?.owner === owner) leases.delete(name);
    },
  };
}
