/** Creates the parts that the server and the commands share: the store and the parts that manage its content. */
import { createSecretKey, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Actor,
  type Admin,
  type AdminDeps,
  Attempts,
  type AuditedActor,
  createActionDescriber,
  createAdmin,
  createConnectionResealDescriber,
  createFourEyes,
  createKeyRotationDescriber,
  createOdooSignIn,
  createOwnApplications,
  createOwnConnections,
  createPersonKeyDescriber,
  createResealDescriber,
  createSecretResealDescriber,
  createTokenUses,
  type DescribeAction,
  Examinations,
  type OwnApplicationOperations,
  type OwnConnectionDeps,
  type OwnConnectionOperations,
} from '@erp-proxy/admin';
import { createTokenLimits, findRuleForKnown, type OperatorProvider } from '@erp-proxy/admin/operators';
import { SerialQueue } from '@erp-proxy/async/tasks';
import type { UpstreamView } from '@erp-proxy/contract';
import { type Approvals, createApprovals } from '@erp-proxy/control/approvals';
import { type Audit, createAudit, PROXY_ACTOR } from '@erp-proxy/control/audit';
import { type Connections, createConnections } from '@erp-proxy/control/connections';
import { type Consents, createConsents } from '@erp-proxy/control/consents';
import {
  createInstances,
  createVault,
  type InstanceRecord,
  type Instances,
  type MasterKeys,
  openDraft,
  type RenewableVault,
  trustOf,
  type Vault,
  VaultError,
} from '@erp-proxy/control/instances';
import {
  createAskOdoo,
  createKeyRotation,
  createPersonKeyRotation,
  type KeyRotation,
  type PersonKeyRotation,
} from '@erp-proxy/control/key-rotation';
import {
  createExpiryNotices,
  createKeys,
  type ExpiryNotice,
  type ExpiryNotices,
  type Keys,
  readStoredPolicy,
} from '@erp-proxy/control/keys';
import { createOperatorTokens, type OperatorTokens } from '@erp-proxy/control/keys/operator-tokens';
import { createStatistics, type Statistics } from '@erp-proxy/control/statistics';
import { createDeniedSubjects } from '@erp-proxy/control/tokens';
import { nameOdooProvider, parseIssuers } from '@erp-proxy/control/tokens/issuers';
import {
  createSender,
  createSubscriptions,
  type SendDelivery,
  type Subscriptions,
  WORKER_TIMES,
} from '@erp-proxy/data/subscriptions';
import { createEgressDispatcher, type EgressDispatcher } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { createRecordCheck, explainCall, listUnchecked, readBaseUrl } from '@erp-proxy/gateway/call';
import { Denial } from '@erp-proxy/gateway/terms';
import { nameDatabaseByTrust } from '@erp-proxy/gateway/upstream';
import {
  checkAudit,
  checkClientKeys,
  checkInstanceKeys,
  checkStore,
  type HealthCheck,
} from '@erp-proxy/observe/health';
import { describeError, type Logger, logKeyRotation } from '@erp-proxy/observe/log';
import { StartError } from '@erp-proxy/observe/start-error';
import { compilePolicy } from '@erp-proxy/policy';
import { findUpgrade, openStore } from '@erp-proxy/stores';
import type { Store } from '@erp-proxy/stores/ports';
import { explainContradictions, explainEgressErrors } from '../config/explain-settings.ts';
import type { Settings } from '../config/schema.ts';
import { examineInstance } from './examination.ts';

export interface ServicesOptions {
  settings: Settings;
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Logs failures of background work. */
  logger: Logger;
  /** Left out: one is created. */
  egress?: EgressDispatcher;
  /** By whom operators sign in; null: nobody does. */
  operatorProvider: OperatorProvider | null;
  /** The upstream databases that this process knows. */
  listUpstreams: () => UpstreamView[];
  /** Checks of `/readyz` that only a running proxy has. */
  checkMore?: () => Record<string, HealthCheck>;
  /** Receives the notices of client keys that expire soon. */
  onKeyNotice?: (notice: ExpiryNotice) => void;
  /** True if this process also does periodic work: audit retention and the rotation of instance keys. */
  isServing: boolean;
  /** Starts the sandbox for a person without an Odoo server. Left out if there is no sandbox. */
  startSandbox?: AdminDeps['startSandbox'];
  /** Time limit of an attempt to send a delivery to a webhook; tests set a shorter one. */
  sendTimeoutMs?: number;
}

export interface Services {
  store: Store;
  keys: Keys;
  instances: Instances;
  connections: Connections;
  consents: Consents;
  audit: Audit;
  egress: EgressDispatcher;
  keyRotation: KeyRotation;
  personKeyRotation: PersonKeyRotation;
  approvals: Approvals;
  operatorTokens: OperatorTokens;
  expiryNotices: ExpiryNotices;
  statistics: Statistics;
  subscriptions: Subscriptions;
  /** Sends a delivery to a webhook. */
  sendDelivery: SendDelivery;
  /** Checks the health of the parts, by name. */
  check(): Promise<Record<string, HealthCheck>>;
  /** Returns the admin service for an actor, under whose name the audit records its changes. */
  adminFor(actor: Actor): Admin;
  /** For the audit of what the proxy does by itself. */
  describeOwnAction: DescribeAction;
  /** Seals the keys of jobs. */
  jobVault: Vault;
  /** Seals what the authorization server keeps. */
  signInVault: Vault;
  /**
   * Uses other master keys from now on, and seals again in the background what others have sealed. Rejects with a
   * {@link VaultError}, and changes nothing, if another replica or this one could then not open something.
   */
  takeMasterKeys(next: MasterKeys, current: MasterKeys): Promise<void>;
  /** Signs a person in by the Odoo of an instance. */
  signInByOdoo: ReturnType<typeof createOdooSignIn>;
  /** Returns the operations of a person on what is their own. */
  ownOf(person: AuditedActor): {
    connections: OwnConnectionOperations;
    applications: OwnApplicationOperations;
  };
  /** Writes the waiting audit records, and closes everything. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

export async function openServices(options: ServicesOptions): Promise<Services> {
  const { settings, version, clock, logger, listUpstreams, isServing, onKeyNotice = () => {} } = options;
  const { checkMore = () => ({}), operatorProvider } = options;
  const faults = explainContradictions(settings);
  if (faults.length > 0) throw new StartError(faults.join('\n'));
  const egress = options.egress ?? openEgress(settings);
  const vault = createVault(settings.vault);
  /** Pass new master keys on. */
  const renewals: RenewableVault['renew'][] = vault === null ? [] : [vault.renew];
  const openSeals = (purpose: string): Vault => {
    const ownKey = Buffer.from(keys.deriveSecret(purpose)).toString('base64');
    const seals = createSeals(settings.vault, ownKey, purpose);
    renewals.push(({ masterKey, otherMasterKeys }) =>
      seals.renew({ masterKey, otherMasterKeys: [...otherMasterKeys, ownKey] }),
    );
    return seals;
  };
  const store = await openStore(settings.store.url);
  const upgrade = findUpgrade(store);
  // Shown for commands, too: a command of a newer version may have upgraded the store of a running proxy.
  if (upgrade !== null) logger.warn('store upgraded', upgrade);
  const logErrorOf = (what: string) => (error: unknown) => logger.error(what, { err: describeError(error) });
  const hashSecret = settings.keys.hashSecret ?? undefined;
  const denied = createDeniedSubjects(store);
  const keys = await createKeys({
    store,
    clock,
    hashSecret,
    isPersonDenied: (person) => denied.isDenied(person),
    onError: logErrorOf('key store'),
  });
  const instances = await createInstances({
    store,
    vault,
    clock,
    onError: logErrorOf('instances'),
    isForRepair: !isServing,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error instanceof VaultError ? new StartError(error.message) : error;
  });
  const connections = createConnections({ store, vault, clock, onError: logErrorOf('connections') });
  const signInVault = openSeals('sign-ins of applications');
  const consents = createConsents({
    store,
    vault: signInVault,
    clock,
    onError: logErrorOf('consents'),
  });
  const { retentionDays } = settings.audit;
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: createSecretKey(keys.deriveSecret('audit chain')),
    clock,
    retentionMs: isServing && retentionDays > 0 ? retentionDays * DAY_MS : null,
    onError: logErrorOf('audit'),
    onLost: (records) => logger.error('audit records lost', { records }),
  });
  const describeOwnAction = createActionDescriber(audit, {
    ...PROXY_ACTOR,
    address: null,
    requestId: null,
  });
  const rotationParts = {
    instances,
    leases: store.leases,
    owner: `${hostname()} ${process.pid}`,
    ask: createAskOdoo({ egress, timeoutMs: settings.upstream.timeoutMs }),
    clock,
    onEvent: (event: Parameters<typeof logKeyRotation>[0]) => logKeyRotation(event, logger),
    onError: logErrorOf('key rotation'),
  };
  const keyRotation = createKeyRotation({
    ...rotationParts,
    describeAction: createKeyRotationDescriber(describeOwnAction),
    storesFailures: isServing,
  });
  const personKeyRotation = createPersonKeyRotation({
    ...rotationParts,
    connections,
    describeAction: createPersonKeyDescriber(describeOwnAction),
  });
  const approvals = openApprovals(settings, {
    store,
    keys,
    vault: openSeals('values of approvals'),
    clock,
    isServing,
    onError: logErrorOf('approvals'),
  });
  const operatorTokens = createOperatorTokens({
    store: store.operatorTokens,
    findLimit: createTokenLimits({
      store,
      provider: operatorProvider,
      clock,
      confirmedForMs: settings.operators.tokenDays * DAY_MS,
    }),
    secret: keys.deriveSecret('operator tokens'),
    clock,
    onError: logErrorOf('operator tokens'),
  });
  const sendDelivery = createSender({
    egress,
    clock,
    nowMs: () => performance.now(),
    version,
    timeoutMs: options.sendTimeoutMs ?? WORKER_TIMES.sendMs,
  });
  const subscriptions = createSubscriptions({
    store: store.subscriptions,
    vault: openSeals('secrets of webhooks'),
    clock,
    send: sendDelivery,
    onError: logErrorOf('subscriptions'),
  });
  const expiryNotices = createExpiryNotices({
    store: store.keys,
    leases: store.leases,
    clock,
    noticeDays: settings.keys.expiryNoticeDays,
    onNotice: onKeyNotice,
    onError: logErrorOf('expiry of client keys'),
  });
  const statistics = createStatistics({
    store: store.statistics,
    leases: store.leases,
    process: `${hostname()} ${process.pid} ${randomUUID()}`,
    clock,
    countQueued: () => listUpstreams().reduce((sum, { waiting }) => sum + waiting, 0),
    onError: logErrorOf('statistics'),
  });
  const resealAll = () => {
    void instances.reseal(createResealDescriber(describeOwnAction)).catch(logErrorOf('vault'));
    void connections.reseal(createConnectionResealDescriber(describeOwnAction)).catch(logErrorOf('vault'));
    void subscriptions.reseal(createSecretResealDescriber(describeOwnAction)).catch(logErrorOf('vault'));
  };
  if (isServing) resealAll();
  const startedAt = clock();
  const check = async () => ({
    store: await checkStore(store),
    audit: checkAudit(audit),
    instance_keys: checkInstanceKeys(keyRotation.warning()),
    client_keys: checkClientKeys(expiryNotices.warning()),
    ...checkMore(),
  });
  const adminDeps: AdminDeps = {
    keys,
    instances,
    connections,
    consents,
    approvals,
    subscriptions,
    jobs: {
      list: store.jobs.list,
      find: store.jobs.find,
      cancel: (id, auditBatch) =>
        store.jobs.cancel(id, null, { now: clock(), keepMs: settings.jobs.keepHours * HOUR_MS }, auditBatch),
    },
    deniedSubjects: store.deniedSubjects,
    operatorTokens,
    persons: store.operators,
    findGrant: (granted) => (operatorProvider === null ? null : findRuleForKnown(operatorProvider, granted)),
    issuers: listSubjectIssuers(settings),
    audit,
    statistics,
    readEndingKeys: async () => (await expiryNotices.readDue()) ?? { due: [], isCut: false },
    explainReceiver: (origin) => (isServing ? (egress.check(origin)?.detail ?? null) : null),
    clock,
    nowMs: () => performance.now(),
    readTokenUses:
      settings.operators.issuer === null
        ? null
        : createTokenUses({ audit, clock, nowMs: () => performance.now() }),
    status: async () => ({
      version,
      started_at: new Date(startedAt).toISOString(),
      store: store.label,
      checks: await check(),
      audit: { waiting: audit.waiting, lost: audit.lost },
      upstreams: listUpstreams(),
    }),
    explain: async (key, input) => {
      const policy = readStoredPolicy(key);
      return explainCall(key, policy && compilePolicy(policy), input, clock());
    },
    listUpstreamsOf: (has) => listUpstreamsOf(has, instances, listUpstreams),
    explainOwnCall: settings.approvals.fourEyes ? createFourEyes({ keys, operatorTokens }) : null,
    numbersKey: createSecretKey(keys.deriveSecret('numbers of limited operators')),
    drafts: {
      explain: (policy, input) => explainCall(NO_KEY, policy && compilePolicy(policy), input, clock()),
      checkRecords: (policy) => ({ check: createRecordCheck(policy), unchecked: listUnchecked(policy) }),
    },
    startSandbox: options.startSandbox ?? null,
    comparisons: new SerialQueue(),
    examinations: new Examinations(),
    rotateInstanceKey: (name, describeAction) => keyRotation.rotate(name, describeAction),
    examineInstance: async (name, onCheck) => {
      const instance = await instances.find(name);
      return instance && examineInstance(instance, settings, egress, onCheck);
    },
    examineDraft: async (input, onCheck) => {
      const { instance, login } = openDraft(input);
      const { userId, apiKey } = instance;
      const user = userId === null || apiKey === null ? null : { userId, apiKey, login };
      return examineInstance(instance, settings, egress, onCheck, user);
    },
  };

  const ownDeps: OwnConnectionDeps = {
    connections,
    instances,
    audit,
    examinations: new Examinations(),
    attempts: new Attempts(() => performance.now()),
    examine: (instance, { login, ...user }) =>
      examineInstance(instance, settings, egress, undefined, { ...user, login, userId: user.userId ?? 0 }),
  };

  return {
    store,
    keys,
    instances,
    connections,
    consents,
    audit,
    egress,
    keyRotation,
    personKeyRotation,
    approvals,
    operatorTokens,
    expiryNotices,
    statistics,
    subscriptions,
    sendDelivery,
    check,
    adminFor: (actor) => createAdmin(adminDeps, actor),
    describeOwnAction,
    jobVault: openSeals('jobs'),
    signInVault,
    async takeMasterKeys(next, current) {
      checkMasterKeyChange(next, current);
      const { masterKey, otherMasterKeys } = next;
      if (masterKey === null) return;
      await instances.checkVault(createVault(next)!);
      for (const renew of renewals) renew({ masterKey, otherMasterKeys });
      resealAll();
    },
    signInByOdoo: createOdooSignIn(ownDeps),
    ownOf: (actor) => ({
      connections: createOwnConnections(ownDeps, actor),
      applications: createOwnApplications({ consents, audit }, actor),
    }),
    async close() {
      await statistics.close();
      await expiryNotices.close();
      await keyRotation.close();
      await personKeyRotation.close();
      await approvals.close();
      await audit.close();
      await egress.close();
      await operatorTokens.close();
      await keys.close();
      instances.close();
      connections.close();
      consents.close();
      denied.close();
      await store.close();
    },
  };
}

const PAGE_INSTANCES = 200;

/**
 * The upstream databases that these stored instances use and no other one does: the figures of a shared database would
 * tell of the calls of others.
 */
async function listUpstreamsOf(
  has: (instance: string) => boolean,
  instances: Pick<Instances, 'list'>,
  listUpstreams: () => UpstreamView[],
): Promise<UpstreamView[]> {
  const own = new Set<string>();
  const foreign = new Set<string>();
  for (let after: string | null = null; ; ) {
    const page: InstanceRecord[] = await instances.list({ after, limit: PAGE_INSTANCES });
    for (const { name, url, db, certificates, allowPrivate } of page) {
      const address = readBaseUrl(url);
      if (address instanceof Denial) continue;
      const trust = trustOf({ certificates, allowPrivate });
      (has(name) ? own : foreign).add(nameDatabaseByTrust({ ...address, db, trust }));
    }
    after = page.at(-1)?.name ?? null;
    if (page.length < PAGE_INSTANCES) break;
  }
  return listUpstreams().filter(({ database }) => own.has(database) && !foreign.has(database));
}

/** Names of the providers whose subjects can be denied. */
function listSubjectIssuers({ auth, operators, signIn }: Settings): string[] {
  const names = parseIssuers(auth).issuers.map(({ name }) => name);
  const byOdoo = signIn.odoo.map(nameOdooProvider);
  return [...new Set([...names, ...(operators.issuer === null ? [] : [operators.name]), ...byOdoo])];
}

/** The state of an active key, for a draft of a policy, which no key has. */
const NO_KEY = { revokedAt: null, expiresAt: null };

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * Throws a {@link VaultError} for changes that docs/instances.md does not have. All replicas get new files, but not at
 * the same moment: what one seals, the others must be able to open.
 */
function checkMasterKeyChange(next: MasterKeys, current: MasterKeys): void {
  if (next.masterKey === current.masterKey || current.masterKey === null || next.masterKey === null) return;
  if (!current.otherMasterKeys.includes(next.masterKey)) {
    throw new VaultError(
      'the new master key must first be in vault.otherMasterKeys of every replica: what it seals could otherwise not be opened everywhere.',
    );
  }
  if (!next.otherMasterKeys.includes(current.masterKey)) {
    throw new VaultError(
      'the former master key must be in vault.otherMasterKeys until nothing is sealed under it.',
    );
  }
}

/** Seals under the master key if there is one, otherwise under a key that is derived from the secret of the keys. */
function createSeals(vault: MasterKeys, ownKey: string, purpose: string): RenewableVault {
  const seals = createVault({
    masterKey: vault.masterKey ?? ownKey,
    otherMasterKeys: [...vault.otherMasterKeys, ownKey],
  });
  if (seals === null) throw new Error(`there is no key for the ${purpose}`);
  return seals;
}

function openApprovals(
  { approvals: settings }: Settings,
  {
    store,
    keys,
    ...others
  }: Pick<Services, 'store' | 'keys'> & {
    vault: Vault;
    clock: () => number;
    isServing: boolean;
    onError: (error: unknown) => void;
  },
): Approvals {
  return createApprovals({
    store: store.approvals,
    secret: keys.deriveSecret('approvals'),
    settings: {
      decideMs: settings.decideHours * HOUR_MS,
      useMs: settings.useMinutes * MINUTE_MS,
      callBytesMax: settings.callBytesMax,
      clientMax: settings.clientMax,
      totalMax: settings.totalMax,
    },
    ...others,
  });
}

/** Throws a {@link StartError} if `egress.allow` is invalid. */
export function openEgress(settings: Settings): EgressDispatcher {
  const { policy, errors } = parseEgressPolicy(settings.egress.allow);
  if (errors.length > 0) throw new StartError(explainEgressErrors(errors).join('\n'));
  return createEgressDispatcher({
    allow: policy,
    connectTimeoutMs: settings.upstream.connectTimeoutMs,
    firstByteTimeoutMs: settings.upstream.firstByteTimeoutMs,
  });
}
