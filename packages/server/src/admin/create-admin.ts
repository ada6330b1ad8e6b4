/**
 * Creates the admin service. Each change is one record in the audit, written in the transaction of the change. Knows
 * neither how an administrator authenticates nor how answers are sent.
 */

import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import { createApprovalAdmin } from './approval-admin.ts';
import { listAttention } from './attention.ts';
import { createActionDescriber } from './audited-actions.ts';
import { describeMethods } from './describe-methods.ts';
import { createInstanceAdmin } from './instance-admin.ts';
import { createKeyAdmin } from './key-admin.ts';
import { createPolicyAdmin } from './policy-admin.ts';
import { createSandboxAdmin } from './sandbox-admin.ts';
import { createStatisticsAdmin } from './statistics-admin.ts';
import { createSubjectAdmin } from './subject-admin.ts';
import { createSubscriptionAdmin } from './subscription-admin.ts';
import { toAdminError } from './to-admin-error.ts';

export function createAdmin(deps: AdminDeps, actor: Actor): Admin {
  const describeAction = createActionDescriber(deps.audit, actor);
  const instances = createInstanceAdmin(deps, describeAction);
  const { audit } = deps;
  const operations: Omit<Admin, 'exportAudit'> = {
    ...createKeyAdmin(deps, describeAction),
    ...instances,
    ...createApprovalAdmin(deps, describeAction, actor),
    ...createSubjectAdmin(deps, describeAction),
    ...createSubscriptionAdmin(deps, describeAction),
    ...createPolicyAdmin(deps),
    ...createSandboxAdmin(deps, instances.createInstance),
    ...createStatisticsAdmin(deps),
    checkServer: (input, onCheck) => deps.examinations.run(() => deps.examineDraft(input, onCheck)),
    listAudit: audit.search,
    async getAuditRecord(seq) {
      const record = await audit.find(seq);
      if (record === null) throw createAdminError(404, `The audit has no record ${seq}, or has removed it.`);
      return record;
    },
    verifyAudit: ({ head }) => audit.verify(head),
    getStatus: deps.status,
    listMethods: async () => ({ methods: describeMethods() }),
    listAttention: () => listAttention(deps),
  };
  return {
    ...convertErrors(operations),
    exportAudit: (query) => convertStreamErrors(() => audit.export(query)),
  };
}

/** Converts the errors of all methods to an AdminError. */
function convertErrors<Operations extends object>(operations: Operations): Operations {
  const converted = Object.entries(operations).map(([id, run]) => [
    id,
    async (...given: unknown[]) => {
      try {
        return await run(...given);
      } catch (error) {
        throw toAdminError(error);
      }
    },
  ]);
  return Object.fromEntries(converted) as Operations;
}

async function* convertStreamErrors<Item>(open: () => AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* open();
  } catch (error) {
    throw toAdminError(error);
  }
}
