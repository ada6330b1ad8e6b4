/**
 * The store in memory, for tests, demos and trials: everything is lost at exit. The store suite proves that it behaves
 * as the persistent engines do.
 */
import type { AuditBatch, ChangeListener, FoundStore, Store } from '../ports.ts';
import { createMemoryApprovals } from './approvals.ts';
import { createMemoryAudit } from './audit.ts';
import { createMemoryCallCounts } from './call-counts.ts';
import { createMemoryDeniedSubjects } from './denied-subjects.ts';
import { createMemoryIdempotency } from './idempotency.ts';
import { createMemoryInstances } from './instances.ts';
import { createMemoryKeys } from './keys.ts';
import { createMemoryLeases } from './leases.ts';
import { createMemoryStatistics } from './statistics.ts';
import { createMemorySubscriptions } from './subscriptions.ts';

const LABEL = 'memory';

export function openMemoryStore(): Store {
  const listeners: ChangeListener[] = [];
  const tell: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  const audit = createMemoryAudit();
  const appendAct = (act: AuditBatch | undefined) => act && void audit.append(act);
  return {
    label: LABEL,
    keys: createMemoryKeys(tell, appendAct),
    instances: createMemoryInstances(tell, appendAct),
    audit,
    idempotency: createMemoryIdempotency(Date.now),
    callCounts: createMemoryCallCounts(),
    approvals: createMemoryApprovals(appendAct),
    deniedSubjects: createMemoryDeniedSubjects(tell, appendAct),
    statistics: createMemoryStatistics(),
    subscriptions: createMemorySubscriptions(tell, appendAct),
    leases: createMemoryLeases(),
    watch: (listener) => void listeners.push(listener),
    isWatching: true,
    trouble: null,
    probe() {},
    close() {},
  };
}

/** A store in memory exists whenever it is asked for. */
export function lookForMemoryStore(): FoundStore {
  return { label: LABEL, exists: true };
}
