/**
 * Creates the admin service. Each change is one act in the audit, written in the transaction of the change. Knows neither
 * how an administrator authenticates nor how answers are sent.
 */
import { createActDescriber } from './acts.ts';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createInstanceAdmin } from './instance-admin.ts';
import { createKeyAdmin } from './key-admin.ts';
import { toAdminError } from './to-admin-error.ts';

export function createAdmin(deps: AdminDeps, actor: Actor): Admin {
  const describeAct = createActDescriber(deps.audit, actor);
  const keys = createKeyAdmin(deps, describeAct);
  const instances = createInstanceAdmin(deps, describeAct);
  const { audit } = deps;
  return {
    listKeys: explained(keys.listKeys),
    createKey: explained(keys.createKey),
    getKey: explained(keys.getKey),
    updateKey: explained(keys.updateKey),
    revokeKey: explained(keys.revokeKey),
    rotateKey: explained(keys.rotateKey),
    explain: explained(keys.explain),
    listInstances: explained(instances.listInstances),
    createInstance: explained(instances.createInstance),
    getInstance: explained(instances.getInstance),
    updateInstance: explained(instances.updateInstance),
    removeInstance: explained(instances.removeInstance),
    rotateInstanceKey: explained(instances.rotateInstanceKey),
    examineInstance: explained(instances.examineInstance),
    listAudit: explained(audit.search),
    exportAudit: (query) => explainedEach(() => audit.export(query)),
    verifyAudit: explained(audit.verify),
    resealVault: explained(instances.resealVault),
    status: explained(deps.status),
  };
}

/** The method, with what it refuses as an {@link AdminError}. */
function explained<Given extends unknown[], Answer>(
  method: (...given: Given) => Promise<Answer>,
): (...given: Given) => Promise<Answer> {
  return async (...given) => {
    try {
      return await method(...given);
    } catch (error) {
      throw toAdminError(error);
    }
  };
}

async function* explainedEach<Item>(open: () => AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* open();
  } catch (error) {
    throw toAdminError(error);
  }
}
