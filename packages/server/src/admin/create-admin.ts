/**
 * Creates the admin service. Each change is one act in the audit, written in the transaction of the change. Knows
 * neither how an administrator authenticates nor how answers are sent.
 */
import { createActDescriber } from './acts.ts';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import { createApprovalAdmin } from './approval-admin.ts';
import { listAttention } from './attention.ts';
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
  const describeAct = createActDescriber(deps.audit, actor);
  const keys = createKeyAdmin(deps, describeAct);
  const instances = createInstanceAdmin(deps, describeAct);
  const approvals = createApprovalAdmin(deps, describeAct, actor);
  const subjects = createSubjectAdmin(deps, describeAct);
  const subscriptions = createSubscriptionAdmin(deps, describeAct);
  const policies = createPolicyAdmin(deps);
  const sandbox = createSandboxAdmin(deps, instances.createInstance);
  const { audit } = deps;
  return {
    listKeys: convertErrors(keys.listKeys),
    listKeyNames: convertErrors(keys.listKeyNames),
    createKey: convertErrors(keys.createKey),
    getKey: convertErrors(keys.getKey),
    updateKey: convertErrors(keys.updateKey),
    revokeKey: convertErrors(keys.revokeKey),
    rotateKey: convertErrors(keys.rotateKey),
    explain: convertErrors(keys.explain),
    explainPolicy: convertErrors(policies.explainPolicy),
    comparePolicy: convertErrors(policies.comparePolicy),
    listApprovals: convertErrors(approvals.listApprovals),
    getApproval: convertErrors(approvals.getApproval),
    approveCall: convertErrors(approvals.approveCall),
    refuseCall: convertErrors(approvals.refuseCall),
    listInstances: convertErrors(instances.listInstances),
    createInstance: convertErrors(instances.createInstance),
    getInstance: convertErrors(instances.getInstance),
    updateInstance: convertErrors(instances.updateInstance),
    removeInstance: convertErrors(instances.removeInstance),
    rotateInstanceKey: convertErrors(instances.rotateInstanceKey),
    examineInstance: convertErrors(instances.examineInstance),
    examineDraft: convertErrors((input, onCheck) =>
      deps.examinations.run(() => deps.examineDraft(input, onCheck)),
    ),
    listSubscriptions: convertErrors(subscriptions.listSubscriptions),
    createSubscription: convertErrors(subscriptions.createSubscription),
    getSubscription: convertErrors(subscriptions.getSubscription),
    updateSubscription: convertErrors(subscriptions.updateSubscription),
    removeSubscription: convertErrors(subscriptions.removeSubscription),
    pauseSubscription: convertErrors(subscriptions.pauseSubscription),
    resumeSubscription: convertErrors(subscriptions.resumeSubscription),
    retrySubscription: convertErrors(subscriptions.retrySubscription),
    rotateSecret: convertErrors(subscriptions.rotateSecret),
    pingSubscription: convertErrors(subscriptions.pingSubscription),
    replayDeliveries: convertErrors(subscriptions.replayDeliveries),
    listDeliveries: convertErrors(subscriptions.listDeliveries),
    listDeniedSubjects: convertErrors(subjects.listDeniedSubjects),
    denySubject: convertErrors(subjects.denySubject),
    allowSubject: convertErrors(subjects.allowSubject),
    listAudit: convertErrors(audit.search),
    getAuditRecord: convertErrors(async (seq) => {
      const record = await audit.find(seq);
      if (record === null) throw createAdminError(404, `The audit has no record ${seq}, or has removed it.`);
      return record;
    }),
    exportAudit: (query) => convertStreamErrors(() => audit.export(query)),
    verifyAudit: convertErrors(audit.verify),
    resealVault: convertErrors(instances.resealVault),
    getStatistics: convertErrors(createStatisticsAdmin(deps).getStatistics),
    status: convertErrors(deps.status),
    listMethods: async () => ({ methods: describeMethods() }),
    getSandbox: convertErrors(sandbox.getSandbox),
    startSandbox: convertErrors(sandbox.startSandbox),
    listAttention: convertErrors(() => listAttention(deps)),
  };
}

/** Converts the errors of a method to an AdminError. */
function convertErrors<Given extends unknown[], Answer>(
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

async function* convertStreamErrors<Item>(open: () => AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* open();
  } catch (error) {
    throw toAdminError(error);
  }
}
