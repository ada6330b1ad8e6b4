/**
 * Creates the admin service. Each change is one record in the audit, written in the transaction of the change. Knows
 * neither how an administrator authenticates nor how answers are sent.
 */

import { type MethodView, nameActor, type SandboxView, type StatisticsFilters } from '@erp-proxy/contract';
import { classifyAction, isReadOnlyMethod } from '@erp-proxy/odoo';
import { listSignatures, type Signature } from '@erp-proxy/odoo/signatures';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import { createApplicationAdmin } from './application-admin.ts';
import { createApprovalAdmin } from './approval-admin.ts';
import { listAttention } from './attention.ts';
import { createActionDescriber } from './audited-actions.ts';
import { createConnectionAdmin } from './connection-admin.ts';
import { createInstanceAdmin } from './instance-admin.ts';
import { createJobAdmin } from './job-admin.ts';
import { createKeyAdmin } from './key-admin.ts';
import { limitDeps } from './limit-deps.ts';
import { createPersonAdmin } from './person-admin.ts';
import { createPolicyAdmin } from './policy-admin.ts';
import { createSubjectAdmin } from './subject-admin.ts';
import { createSubscriptionAdmin } from './subscription-admin.ts';
import { toAdminError } from './to-admin-error.ts';
import { createTokenAdmin } from './token-admin.ts';

export function createAdmin(all: AdminDeps, actor: Actor): Admin {
  const deps = actor.instances === null ? all : limitDeps(all, actor.instances, actor);
  const describeAction = createActionDescriber(deps.audit, actor);
  const instances = createInstanceAdmin(deps, describeAction);
  const { audit } = deps;
  const operations: Omit<Admin, 'exportAudit'> = {
    ...createKeyAdmin(deps, describeAction, actor),
    ...instances,
    ...createApprovalAdmin(deps, describeAction, actor),
    ...createJobAdmin(deps, describeAction),
    ...createSubjectAdmin(deps, describeAction),
    ...createConnectionAdmin(deps, describeAction),
    ...createPersonAdmin(deps, describeAction),
    ...createApplicationAdmin(deps, describeAction),
    ...createTokenAdmin(deps, describeAction, actor),
    ...createSubscriptionAdmin(deps, describeAction, actor),
    ...createPolicyAdmin(deps),
    ...createSandboxAdmin(deps, instances.createInstance),
    ...createStatisticsAdmin(deps),
    checkServer: (input, onCheck) => deps.examinations.run(() => deps.examineDraft(input, onCheck)),
    listAudit: (query) => audit.search(query),
    async getAuditRecord(seq) {
      const record = await audit.find(seq);
      if (record === null) throw createAdminError(404, `The audit has no record ${seq}, or has removed it.`);
      return record;
    },
    beginApply: ({ changes }) =>
      audit.recordAdminAction({
        actor: nameActor(actor),
        address: actor.address,
        requestId: actor.requestId,
        action: 'apply.begin',
        target: 'proxy',
        changes: { changes: { from: null, to: changes } },
      }),
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

/** Describes the methods with known parameters, for forms: all but those that Odoo refuses. */
function describeMethods(): MethodView[] {
  return listSignatures()
    .filter(({ signature }) => !signature.isPrivate)
    .map(({ model, method, signature }) => ({
      action: method,
      model,
      kind: checkKind(method, model),
      params: listPositional(signature),
    }));
}

function checkKind(method: string, model: string | null): MethodView['kind'] {
  if (method === 'unlink') return 'delete';
  if (isReadOnlyMethod(method, model ?? undefined)) return 'read';
  return classifyAction(method) === 'write' ? 'write' : 'unknown';
}

function listPositional({ kind, parameters }: Signature): MethodView['params'] {
  const positional = parameters.filter(({ kind }) => kind === 'positional' || kind === 'positional_only');
  return [
    ...(kind === 'ids' ? [{ name: 'ids', required: true as const }] : []),
    ...positional.map(({ name, isRequired }) => (isRequired ? { name, required: true as const } : { name })),
  ];
}

const NAME = 'sandbox';

/** Starts the sandbox for a person who has no Odoo server at hand. Only a first start offers it. */
function createSandboxAdmin(
  { startSandbox, instances }: Pick<AdminDeps, 'startSandbox' | 'instances'>,
  createInstance: Admin['createInstance'],
): Pick<Admin, 'getSandbox' | 'startSandbox'> {
  async function hasInstance(): Promise<boolean> {
    return (await instances.list({ after: null, limit: 1 })).length > 0;
  }

  return {
    async getSandbox(): Promise<SandboxView> {
      return { available: startSandbox !== null && !(await hasInstance()) };
    },

    async startSandbox() {
      if (startSandbox === null) throw createAdminError(404, NOT_HERE);
      if (await hasInstance()) throw createAdminError(409, HAS_INSTANCE);
      const { url, db, userId, apiKey } = await startSandbox();
      // Private addresses are allowed to this one instance only.
      return createInstance({ name: NAME, url, db, user_id: userId, api_key: apiKey, allow_private: true });
    },
  };
}

const NOT_HERE =
  'This proxy starts no sandbox: only `erp-proxy serve` on a terminal with the secrets of a first start does. Run `npx erp-proxy sandbox`, and add it as an instance.';
const HAS_INSTANCE =
  'An instance is stored already: the sandbox is only started for a proxy without any. Run `npx erp-proxy sandbox`, and add it as an instance.';

/** Longer than statistics are kept: a longer range would only take more time. */
const RANGE_MS_MAX = 32 * 86_400_000;

/** Reads the statistics of calls for an administrator. */
function createStatisticsAdmin({ statistics }: AdminDeps): Pick<Admin, 'getStatistics'> {
  return {
    async getStatistics({ since, until, ...query }) {
      const range = { since: readMoment('since', since), until: readMoment('until', until) };
      const { since: from = 0, until: to = Number.MAX_SAFE_INTEGER } = range;
      if (from >= to) throw createAdminError(400, 'since must be before until.');
      if (range.since !== undefined && range.until !== undefined && to - from > RANGE_MS_MAX)
        throw createAdminError(400, 'since and until may be at most 32 days apart.');
      return await statistics.query({ ...query, ...range });
    },
  };
}

function readMoment(name: keyof StatisticsFilters, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time === null) throw createAdminError(400, `${name} is ${TIME_FORM}.`);
  return time;
}
