/** The parts of a store that are the same for all databases. */
import { createApprovals } from './approvals.ts';
import { createCallCounts } from './call-counts.ts';
import { createConnections } from './connections.ts';
import { createConsents, createSignInObjects } from './consents.ts';
import { createDeniedSubjects } from './denied-subjects.ts';
import { createIdempotency } from './idempotency.ts';
import { createInstances } from './instances.ts';
import { createJobs } from './jobs.ts';
import { createKeys } from './keys.ts';
import { createLeases } from './leases.ts';
import { createOperatorTokens } from './operator-tokens.ts';
import { createOperatorRecords } from './operators.ts';
import type { Databases } from './statements.ts';
import { createStatistics } from './statistics.ts';
import { createSubscriptions } from './subscriptions.ts';

export function createSharedParts(databases: Databases) {
  return {
    keys: createKeys(databases),
    instances: createInstances(databases),
    connections: createConnections(databases),
    consents: createConsents(databases),
    signInObjects: createSignInObjects(databases),
    idempotency: createIdempotency(databases),
    callCounts: createCallCounts(databases),
    approvals: createApprovals(databases),
    deniedSubjects: createDeniedSubjects(databases),
    operatorTokens: createOperatorTokens(databases),
    operators: createOperatorRecords(databases),
    statistics: createStatistics(databases),
    subscriptions: createSubscriptions(databases),
    jobs: createJobs(databases),
    leases: createLeases(databases),
  };
}
