/**
 * The parts that the server and the commands share: what is in the store and who looks after it. With app.ts and
 * replicas.ts it alone knows them all; nothing here decides anything.
 */
import { createSecretKey } from 'node:crypto';
import { hostname } from 'node:os';
import type { UpstreamView } from '@erp-proxy/contract';
import { createActDescriber, createKeyRotationDescriber, createResealDescriber } from '../admin/acts.ts';
import type { Actor, Admin } from '../admin/admin.ts';
import { createAdmin } from '../admin/create-admin.ts';
import { type Audit, createAudit } from '../audit/audit.ts';
import { maskValue } from '../config/mask.ts';
import type { Settings } from '../config/schema.ts';
import { createEgressDispatcher, type EgressDispatcher } from '../egress/dispatcher.ts';
import { parseEgressPolicy } from '../egress/policy.ts';
import { explainCall } from '../execute/call/explain.ts';
import type { Check } from '../http/health-route.ts';
import { createInstances, type Instances } from '../instances/instances.ts';
import { createVault, VaultError } from '../instances/vault.ts';
import { createAskOdoo } from '../key-rotation/ask-odoo.ts';
import { createKeyRotation, type KeyRotation, type KeyRotationEvent } from '../key-rotation/key-rotation.ts';
import { createKeys, type Keys } from '../keys/keys.ts';
import { readStoredPolicy } from '../keys/stored-policy.ts';
import { describeError, type Logger } from '../observe/log.ts';
import { compilePolicy } from '../policy/compile.ts';
import { openStore } from '../stores/open.ts';
import type { Store } from '../stores/ports.ts';
import { examineInstance } from './examination.ts';

/** A fault of the settings or the surroundings that an operator must mend; its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface ServicesOptions {
  settings: Settings;
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Told of what goes wrong in the background. */
  logger: Logger;
  /** What is known of the upstream databases. */
  listUpstreams: () => UpstreamView[];
  /** True where this process also does what is due from time to time: retention, and the care of upstream keys. */
  isServing: boolean;
}

export interface Services {
  store: Store;
  keys: Keys;
  instances: Instances;
  audit: Audit;
  egress: EgressDispatcher;
  keyRotation: KeyRotation;
  /** What is not as it should be, by name. */
  check(): Promise<Record<string, Check>>;
  /** The administration, in the name of somebody. */
  adminFor(actor: Actor): Admin;
  /** Writes what waits and closes everything. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

export async function openServices(options: ServicesOptions): Promise<Services> {
  const { settings, version, clock, logger, listUpstreams, isServing } = options;
  const faults = explainTogether(settings);
  if (faults.length > 0) throw new StartError(faults.join('\n'));
  const egress = openEgress(settings);
  const vault = createVault(settings.vault);
  const store = await openStore(settings.store.url);
  const onError = (what: string) => (error: unknown) => logger.error(what, { err: describeError(error) });
  const hashSecret = settings.keys.hashSecret ?? undefined;
  const keys = await createKeys({ store, clock, hashSecret, onError: onError('key store') });
  const instances = await createInstances({
    store,
    vault,
    clock,
    onError: onError('instances'),
    isForRepair: !isServing,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error instanceof VaultError ? new StartError(error.message) : error;
  });
  const { retentionDays } = settings.audit;
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: createSecretKey(keys.deriveSecret('audit chain')),
    clock,
    retentionMs: isServing && retentionDays > 0 ? retentionDays * DAY_MS : null,
    onError: onError('audit'),
    onLost: (records) => logger.error('audit records lost', { records }),
  });
  const describeOwnAct = createActDescriber(audit, { name: 'proxy', address: null, requestId: null });
  const keyRotation = createKeyRotation({
    instances,
    describeAct: createKeyRotationDescriber(describeOwnAct),
    leases: store.leases,
    owner: `${hostname()} ${process.pid}`,
    ask: createAskOdoo({ egress, timeoutMs: settings.upstream.timeoutMs }),
    clock,
    onEvent: (event) => logKeyRotation(event, logger),
    onError: onError('key care'),
    keepsFailures: isServing,
  });
  if (isServing) void instances.reseal(createResealDescriber(describeOwnAct)).catch(onError('vault'));
  const startedAt = clock();
  const check = async () => ({
    store: await checkStore(store),
    audit: checkAudit(audit),
    instance_keys: checkKeyRotation(keyRotation),
  });

  return {
    store,
    keys,
    instances,
    audit,
    egress,
    keyRotation,
    check,
    adminFor: (actor) =>
      createAdmin(
        {
          keys,
          instances,
          audit,
          clock,
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
          rotateInstanceKey: (name, describeAct) => keyRotation.rotate(name, describeAct),
          examineInstance: async (name) => {
            const instance = await instances.find(name);
            return instance && examineInstance(instance, settings, egress);
          },
        },
        actor,
      ),
    async close() {
      await keyRotation.close();
      await audit.close();
      await egress.close();
      await keys.close();
      instances.close();
      await store.close();
    },
  };
}

/** Throws a {@link StartError}. */
export function openEgress(settings: Settings): EgressDispatcher {
  const { policy, faults } = parseEgressPolicy(settings.egress.allow);
  if (faults.length > 0) throw new StartError(explainPolicyFaults(faults).join('\n'));
  return createEgressDispatcher({
    allow: policy,
    connectTimeoutMs: settings.upstream.connectTimeoutMs,
    firstByteTimeoutMs: settings.upstream.firstByteTimeoutMs,
  });
}

/** An answer must be with Redis in the time that a call waits for it, and so must what waits behind it. */
const REDIS_ANSWER_BYTES_MAX = 1024 * 1024;

/** Settings that are right by themselves and not together, for the operator. */
export function explainTogether({
  cache,
  idempotency,
  redis,
}: Pick<Settings, 'cache' | 'idempotency' | 'redis'>): string[] {
  const faults: string[] = [];
  if (idempotency.store === 'redis' && redis.url === null) {
    faults.push('idempotency.store is redis, and redis.url is empty: set it, or idempotency.store to store.');
  }
  if (idempotency.store === 'redis' && idempotency.answerBytesMax > REDIS_ANSWER_BYTES_MAX) {
    faults.push(
      'idempotency.store is redis, and idempotency.answerBytesMax is more than 1MiB: set it to 1MiB or less, or idempotency.store to store.',
    );
  }
  if (cache.store === 'redis' && redis.url === null) {
    faults.push('cache.store is redis, and redis.url is empty: set it, or cache.store to memory.');
  }
  return faults;
}

/** Faults of `egress.allow`, for the operator; a password in an entry is not shown. */
export function explainPolicyFaults(faults: ReturnType<typeof parseEgressPolicy>['faults']): string[] {
  return faults.map(
    ({ entry, message }) => `egress.allow: "${maskValue('egress.allow', entry)}": ${message}`,
  );
}

const WELL: Check = { state: 'ok', detail: null };

/** What is known goes on working for some minutes without the store: reason to look at it, not to turn calls away. */
async function checkStore(store: Store): Promise<Check> {
  try {
    await store.probe();
  } catch {
    return { state: 'degraded', detail: 'the store does not answer; known keys and instances work on' };
  }
  if (store.trouble !== null) {
    return { state: 'degraded', detail: `the store takes no changes: ${store.trouble}` };
  }
  if (store.isWatching) return WELL;
  return { state: 'degraded', detail: 'changes made elsewhere do not arrive; see the log' };
}

function checkAudit({ waiting, lost }: Audit): Check {
  if (lost > 0) return { state: 'degraded', detail: `${lost} records of the audit are lost; see the log` };
  return waiting < WAITING_NOTABLE
    ? WELL
    : { state: 'degraded', detail: `${waiting} records of the audit wait to be written` };
}

const WAITING_NOTABLE = 10_000;

function checkKeyRotation(keyRotation: KeyRotation): Check {
  const warning = keyRotation.warning();
  return warning === null ? WELL : { state: 'degraded', detail: warning };
}

function logKeyRotation({ kind, instance, ...more }: KeyRotationEvent, logger: Logger): void {
  const isDone = kind === 'rotated' || kind === 'revoked';
  logger[isDone ? 'info' : 'warn'](`instance key ${kind}`, { instance, ...more });
}
