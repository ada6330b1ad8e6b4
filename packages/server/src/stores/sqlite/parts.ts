/** The parts of the SQLite store, on the connections to its database. */
import { createSqliteApprovals } from './approvals.ts';
import { createSqliteAudit } from './audit.ts';
import { createSqliteCallCounts } from './call-counts.ts';
import type { SqliteConnections } from './database.ts';
import { createSqliteDeniedSubjects } from './denied-subjects.ts';
import { createSqliteIdempotency } from './idempotency.ts';
import { createSqliteInstances } from './instances.ts';
import { createSqliteKeys } from './keys.ts';
import { createSqliteLeases } from './leases.ts';
import type { Parts } from './operations.ts';
import { createSqliteStatistics } from './statistics.ts';
import { createSqliteSubscriptions } from './subscriptions.ts';

export interface PartsOptions {
  /** Called after each change that watchers must learn of. */
  readonly onChange: () => void;
  /** The clock of the machine, which all processes share, in milliseconds. */
  readonly clock?: () => number;
  readonly audit?: Parameters<typeof createSqliteAudit>[1];
}

export function openParts(
  { durable, quick }: SqliteConnections,
  { onChange, clock = Date.now, audit }: PartsOptions,
): Parts {
  const readOne = durable.prepare('SELECT 1 FROM migrations');
  return {
    keys: createSqliteKeys(durable, onChange),
    instances: createSqliteInstances(durable, onChange),
    audit: createSqliteAudit(quick, audit),
    idempotency: createSqliteIdempotency({ durable, quick }, clock),
    callCounts: createSqliteCallCounts(quick),
    approvals: createSqliteApprovals({ durable, quick }),
    deniedSubjects: createSqliteDeniedSubjects(durable, onChange),
    statistics: createSqliteStatistics(quick),
    subscriptions: createSqliteSubscriptions({ durable, quick }, onChange),
    leases: createSqliteLeases(quick),
    store: { probe: () => void readOne.get() },
  };
}
