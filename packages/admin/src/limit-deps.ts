/**
 * The parts of the proxy as an operator sees them who is limited to some of the instances: the one place that decides
 * what such an operator may see and change. What is out of reach is absent, and cannot be made. The operations of the
 * admin service get these parts in place of the real ones, so that none can forget the limit. Every part is listed, so
 * that a new one must be decided here.
 */
import { type ActorView, type AuditView, createReach, type Reach, tryParse } from '@erp-proxy/contract';
import { type AuditScope, readActor } from '@erp-proxy/control/audit';
import type { KeyChange } from '@erp-proxy/control/keys';
import type { SubscriptionRecord } from '@erp-proxy/data/subscriptions';
import type { JobRow, KeyRecord, OperatorToken, StoredSubscription } from '@erp-proxy/stores/ports';
import type { Actor, AdminDeps } from './admin.ts';
import { type AdminError, createAdminError, createInputError } from './admin-error.ts';
import { createHiddenNumbers } from './hide-numbers.ts';
import { readInstanceOfJob } from './job-admin.ts';
import { listVisible } from './list-visible.ts';
import { findPersonBehind } from './person-behind.ts';
import { listInstancesOfPolicy, listInstancesOfPolicyText } from './policy-instances.ts';

export function limitDeps(deps: AdminDeps, patterns: readonly string[], actor: Actor): AdminDeps {
  const reach = createReach(patterns);
  return {
    keys: limitKeys(deps, reach),
    instances: limitInstances(deps, reach),
    connections: limitConnections(deps, reach),
    approvals: limitApprovals(deps, reach),
    jobs: limitJobs(deps, reach),
    subscriptions: limitSubscriptions(deps, reach),
    operatorTokens: limitTokens(deps, reach, actor),
    audit: limitAudit(deps, reach),
    statistics: {
      query: (range) => deps.statistics.query(range, reach.has),
      listCalled: (since) => deps.statistics.listCalled(since, reach.has),
    },
    async readEndingKeys() {
      const { due, isCut } = await deps.readEndingKeys();
      const areOwn = await Promise.all(due.map(({ keyId }) => findKey(deps, reach, keyId)));
      return { due: due.filter((_, index) => areOwn[index] !== null), isCut };
    },
    status: async () => {
      const { checks, ...status } = await deps.status();
      const { store } = checks;
      // Other checks and numbers are about all instances and keys together.
      return {
        ...status,
        checks: store === undefined ? {} : { store: { state: store.state, detail: null } },
        audit: null,
        upstreams: await deps.listUpstreamsOf(reach.has),
      };
    },
    listUpstreamsOf: (has) => deps.listUpstreamsOf((name) => has(name) && reach.has(name)),
    rotateInstanceKey: async (name, describeAction) => {
      if (!reach.has(name)) throw refuseWhole(reach);
      await deps.rotateInstanceKey(name, describeAction);
    },
    examineInstance: async (name, onCheck) =>
      reach.has(name) ? await deps.examineInstance(name, onCheck) : null,
    examineDraft: async (input, onCheck) => {
      refusePrivate(input, null, reach);
      return await deps.examineDraft(input, onCheck);
    },
    // Applications, subjects, persons and uses of `admin.token` are those of the whole proxy.
    consents: {
      get: async () => Promise.reject(refuseWhole(reach)),
      list: async () => Promise.reject(refuseWhole(reach)),
      remove: async () => Promise.reject(refuseWhole(reach)),
    },
    deniedSubjects: {
      deny: async () => Promise.reject(refuseWhole(reach)),
      allow: async () => Promise.reject(refuseWhole(reach)),
      find: async () => Promise.reject(refuseWhole(reach)),
      findAll: async () => Promise.reject(refuseWhole(reach)),
      list: async () => Promise.reject(refuseWhole(reach)),
    },
    persons: {
      list: async () => Promise.reject(refuseWhole(reach)),
      endSessions: async () => Promise.reject(refuseWhole(reach)),
    },
    findGrant: deps.findGrant,
    issuers: deps.issuers,
    readTokenUses: null,
    startSandbox: null,
    // These see only what they are given.
    explain: deps.explain,
    drafts: deps.drafts,
    explainReceiver: deps.explainReceiver,
    explainOwnCall: deps.explainOwnCall,
    comparisons: deps.comparisons,
    examinations: deps.examinations,
    numbersKey: deps.numbersKey,
    clock: deps.clock,
    nowMs: deps.nowMs,
  };
}

/** The error of an operation that reaches the whole proxy. */
export function refuseWhole({ text }: Pick<Reach, 'text'>): AdminError {
  return createAdminError(
    403,
    `This reaches the whole proxy; you are limited to the instances ${text}. Ask somebody who may use all instances.`,
  );
}

function isKeyInReach({ policy }: Pick<KeyRecord, 'policy'>, reach: Reach): boolean {
  return reach.covers(listInstancesOfPolicyText(policy));
}

async function findKey({ keys }: Pick<AdminDeps, 'keys'>, reach: Reach, id: string) {
  const key = await keys.find(id);
  return key !== null && isKeyInReach(key, reach) ? key : null;
}

function limitKeys(deps: AdminDeps, reach: Reach): AdminDeps['keys'] {
  const { keys } = deps;
  const find = (id: string) => findKey(deps, reach, id);

  function requireReach({ policy = null }: KeyChange): void {
    if (reach.covers(listInstancesOfPolicy(policy))) return;
    const message = `must name \`instances\` among those that you may use (${reach.text}), and no \`origins\``;
    throw createInputError([{ path: 'policy', message }]);
  }

  return {
    find,
    list: ({ after, limit, ...filters }) =>
      listVisible({
        after,
        limit,
        list: async (place: typeof after, count) =>
          await keys.list({ ...filters, after: place, limit: count }),
        placeOf: ({ createdAt, id }) => ({ createdAt, id }),
        isVisible: (key) => isKeyInReach(key, reach),
        lengthOf: ({ policy }) => policy?.length ?? 0,
      }),
    async listNames(ids) {
      const found = await Promise.all([...new Set(ids)].map(find));
      return found.filter((key) => key !== null).map(({ id, name }) => ({ id, name }));
    },
    async create(input, describeAction) {
      requireReach(input);
      return await keys.create(input, describeAction);
    },
    async update(id, version, change, auditBatch) {
      if (change.policy !== undefined) requireReach(change);
      // The store refuses the change of any other version.
      const key = await find(id);
      if (key === null) return 'missing';
      return key.version === version ? await keys.update(id, version, change, auditBatch) : 'conflict';
    },
    revoke: async (id, auditBatch) => (await find(id)) !== null && (await keys.revoke(id, auditBatch)),
    async rotate(id, rotation, describeAction) {
      const key = await find(id);
      if (key === null) return 'missing';
      // Only this version: the policy of a later one may reach further.
      return await keys.rotate(id, { ...rotation, version: rotation.version ?? key.version }, describeAction);
    },
  };
}

function limitInstances({ instances }: AdminDeps, reach: Reach): AdminDeps['instances'] {
  return {
    get: async (name) => (reach.has(name) ? await instances.get(name) : null),
    find: async (name) => (reach.has(name) ? await instances.find(name) : null),
    getVersion: async (name) => (reach.has(name) ? await instances.getVersion(name) : null),
    list: ({ after, limit, search }) =>
      listVisible({
        after,
        limit,
        list: (place: string | null, count) => instances.list({ after: place, limit: count, search }),
        placeOf: ({ name }) => name,
        isVisible: ({ name }) => reach.has(name),
      }),
    async add(input, describeAction) {
      if (!reach.has(input.name)) {
        const message = `must match one of the names that you may use: ${reach.text}`;
        throw createInputError([{ path: 'name', message }]);
      }
      refusePrivate(input, null, reach);
      return await instances.add(input, describeAction);
    },
    async update(from, changes, auditBatch) {
      if (!reach.has(from.name)) return 'missing';
      const instance = await instances.get(from.name);
      refusePrivate(changes, instance, reach);
      return await instances.update(from, changes, auditBatch);
    },
    remove: async (from, auditBatch) =>
      reach.has(from.name) ? await instances.remove(from, auditBatch) : 'missing',
    reseal: async () => Promise.reject(refuseWhole(reach)),
  };
}

function limitConnections({ connections }: AdminDeps, reach: Reach): AdminDeps['connections'] {
  return {
    get: async (person, instance) => (reach.has(instance) ? await connections.get(person, instance) : null),
    list: ({ after, limit, ...filters }) =>
      listVisible({
        after,
        limit,
        list: (place: typeof after, count) => connections.list({ ...filters, after: place, limit: count }),
        placeOf: ({ instance, person }) => ({ instance, person }),
        isVisible: ({ instance }) => reach.has(instance),
      }),
    remove: async (id, auditBatch) => reach.has(id.instance) && (await connections.remove(id, auditBatch)),
    reseal: async () => Promise.reject(refuseWhole(reach)),
  };
}

/** An instance with `allow_private` reaches the network of the proxy, at the address that it has. */
function refusePrivate(
  given: { allow_private?: boolean; url?: string },
  before: { allowPrivate: boolean; url: string } | null,
  { text }: Reach,
): void {
  const isPrivate = given.allow_private ?? before?.allowPrivate ?? false;
  const isSame = before?.allowPrivate === true && (given.url === undefined || given.url === before.url);
  if (!isPrivate || isSame) return;
  const message = `opens the network of the proxy; you are limited to the instances ${text}. Ask somebody who may use all instances`;
  throw createInputError([{ path: 'allow_private', message }]);
}

function limitApprovals({ approvals }: AdminDeps, reach: Reach): AdminDeps['approvals'] {
  async function find(id: string) {
    const approval = await approvals.find(id);
    return approval !== null && reach.has(approval.facts.instance) ? approval : null;
  }

  return {
    find,
    list: ({ after, limit, state }) =>
      listVisible({
        after,
        limit,
        list: (place: typeof after, count) => approvals.list({ after: place, limit: count, state }),
        placeOf: ({ createdAt, id }) => ({ createdAt, id }),
        isVisible: ({ facts }) => reach.has(facts.instance),
      }),
    openCall: async (id) => ((await find(id)) === null ? null : await approvals.openCall(id)),
    decide: async (id, decision, auditBatch) =>
      (await find(id)) === null ? 'missing' : await approvals.decide(id, decision, auditBatch),
  };
}

function limitJobs({ jobs }: AdminDeps, reach: Reach): AdminDeps['jobs'] {
  const isVisible = (row: JobRow) => reach.has(readInstanceOfJob(row));

  async function find(id: string) {
    const row = await jobs.find(id);
    return row !== null && isVisible(row) ? row : null;
  }

  return {
    find,
    list: ({ after, limit, ...filters }) =>
      listVisible({
        after,
        limit,
        list: (place: typeof after, count) => jobs.list({ ...filters, after: place, limit: count }),
        placeOf: ({ createdAt, id }) => ({ createdAt, id }),
        isVisible,
      }),
    cancel: async (id, auditBatch) => ((await find(id)) === null ? null : await jobs.cancel(id, auditBatch)),
  };
}

function limitSubscriptions(deps: AdminDeps, reach: Reach): AdminDeps['subscriptions'] {
  const { subscriptions } = deps;
  const numbers = createHiddenNumbers(deps.numbersKey, 'delivery');
  const isVisible = ({ body }: SubscriptionRecord) => 'instance' in body && reach.has(body.instance);

  async function requireVisible(record: SubscriptionRecord): Promise<void> {
    if (!isVisible(record)) throw refuseWhole(reach);
  }

  function requireReach(name: string, instance: string | undefined): void {
    if (instance === undefined || !reach.has(instance)) {
      // As for an instance that is not stored.
      const message = 'is not the name of a stored instance';
      throw createInputError([{ path: 'instance', message }]);
    }
    // Names are unique in the whole proxy. Without this rule, a taken name would tell of a subscription of others.
    if (name.startsWith(`${instance}.`)) return;
    const message = `must begin with the name of its instance and a dot: ${instance}.${name}`;
    throw createInputError([{ path: 'name', message }]);
  }

  async function find(name: string): Promise<SubscriptionRecord | null> {
    const record = await subscriptions.find(name);
    return record !== null && isVisible(record) ? record : null;
  }

  return {
    find,
    /** Also a row that cannot be read, if its text names an instance in reach. */
    async findRow(name) {
      const row = await subscriptions.findRow(name);
      return row !== null && reach.has(readInstance(row)) ? row : null;
    },
    list: ({ after, limit, ...filters }) =>
      listVisible({
        after,
        limit,
        list: (place: string | null, count) => subscriptions.list({ ...filters, after: place, limit: count }),
        placeOf: ({ row }) => row.name,
        isVisible,
      }),
    async add(input, describeAction, createdBy) {
      // Events are about the keys of the whole proxy.
      if (input.events !== undefined) throw refuseWhole(reach);
      requireReach(input.name, input.instance);
      return await subscriptions.add(input, describeAction, createdBy);
    },
    // Used by calls alone.
    findCallback: subscriptions.findCallback,
    change: subscriptions.change,
    async update(record, next, auditBatch) {
      await requireVisible(record);
      await requireVisible({ ...record, body: next });
      return await subscriptions.update(record, next, auditBatch);
    },
    async setState(record, ...given) {
      await requireVisible(record);
      return await subscriptions.setState(record, ...given);
    },
    // Only rows of `findRow` have this id and version.
    remove: subscriptions.remove,
    rotateSecret: subscriptions.rotateSecret,
    async ping(record, auditBatch) {
      await requireVisible(record);
      return await subscriptions.ping(record, auditBatch);
    },
    async listDeliveries(record, { beforeSeq, ...query }) {
      await requireVisible(record);
      const place = beforeSeq === null ? null : numbers.open(beforeSeq);
      const deliveries = await subscriptions.listDeliveries(record, { ...query, beforeSeq: place });
      return deliveries.map((delivery) => ({ ...delivery, seq: numbers.hide(delivery.seq) }));
    },
    async replay(record, ...given) {
      await requireVisible(record);
      return await subscriptions.replay(record, ...given);
    },
    async replaySince(record, ...given) {
      await requireVisible(record);
      return await subscriptions.replaySince(record, ...given);
    },
    openSecrets: () => {
      throw refuseWhole(reach);
    },
    reseal: async () => Promise.reject(refuseWhole(reach)),
  };
}

function readInstance({ body }: Pick<StoredSubscription, 'body'>): string | null {
  const given = tryParse(body);
  const instance = typeof given === 'object' && given !== null && 'instance' in given ? given.instance : null;
  return typeof instance === 'string' ? instance : null;
}

/** The own tokens, which reach no further than their maker. */
function limitTokens({ operatorTokens }: AdminDeps, reach: Reach, actor: Actor): AdminDeps['operatorTokens'] {
  const isOf = ({ createdBy }: OperatorToken, { id }: ActorView) => readActor(tryParse(createdBy))?.id === id;

  async function find(id: string): Promise<OperatorToken | null> {
    const maker = await findPersonBehind(actor, operatorTokens);
    const token = await operatorTokens.find(id);
    return token !== null && (id === actor.id || isOf(token, maker)) ? token : null;
  }

  return {
    find,
    async list(after, limit) {
      const maker = await findPersonBehind(actor, operatorTokens);
      return await listVisible({
        after,
        limit,
        list: (place: typeof after, count) => operatorTokens.list(place, count),
        placeOf: ({ createdAt, id }) => ({ createdAt, id }),
        isVisible: (token) => isOf(token, maker),
      });
    },
    async create(token, describeAction) {
      const patterns = token.instances === null ? null : (tryParse(token.instances) as string[]);
      if (!reach.covers(patterns)) {
        const message = `must be among those that you may use: ${reach.text}`;
        throw createInputError([{ path: 'instances', message }]);
      }
      return await operatorTokens.create(token, describeAction);
    },
    revoke: async (id, auditBatch) =>
      (await find(id)) !== null && (await operatorTokens.revoke(id, auditBatch)),
  };
}

function limitAudit({ audit, numbersKey }: AdminDeps, reach: Reach): AdminDeps['audit'] {
  const scope: AuditScope = {
    isVisible: (view: AuditView) =>
      view.kind === 'call'
        ? reach.has(view.instance)
        : view.kind === 'admin' && reach.covers(view.instances ?? null),
    numbers: createHiddenNumbers(numbersKey, 'audit'),
  };
  return {
    prepareAdminAction: audit.prepareAdminAction,
    recordAdminAction: audit.recordAdminAction,
    search: (query) => audit.search(query, scope),
    find: (seq) => audit.find(seq, scope),
    export: (query) => audit.export(query, scope),
    verify: async () => Promise.reject(refuseWhole(reach)),
  };
}
