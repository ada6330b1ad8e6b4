/**
 * The composition root: creates the parts of the server from the settings and connects them. Only app.ts, services.ts
 * and replicas.ts know all parts. They make no decisions of their own.
 */
import { hkdfSync, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { showUpstreams } from '@erp-proxy/admin';
import {
  createOperators,
  type OperatorProvider,
  type Operators,
  parseOperators,
} from '@erp-proxy/admin/operators';
import { createMcp } from '@erp-proxy/agents';
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { auditEvents } from '@erp-proxy/control/audit';
import { createVault, type Vault } from '@erp-proxy/control/instances';
import { createSlowdown } from '@erp-proxy/control/keys';
import type { Tokens } from '@erp-proxy/control/tokens';
import { type ClaimRule, type Issuer, parseIssuers } from '@erp-proxy/control/tokens/issuers';
import { createChanges } from '@erp-proxy/data/changes';
import { createExporter } from '@erp-proxy/data/export';
import {
  createSubscriptionWorker,
  type SubscriptionWorker,
  WORKER_TIMES,
  type WorkerTimes,
} from '@erp-proxy/data/subscriptions';
import { createDeliveryCheck, createSubscriptionReader } from '@erp-proxy/data/subscriptions/calls';
import { createRunRequest } from '@erp-proxy/gateway';
import { createCredentialNames } from '@erp-proxy/gateway/call';
import { Admission } from '@erp-proxy/gateway/request';
import type { OpenTracing } from '@erp-proxy/gateway/traces';
import {
  createCredentialMemory,
  createProtocolChoice,
  createReads,
  KnownNames,
  KnownOrders,
  LoginTrials,
  ModelFields,
  nameDatabaseAcrossTrusts,
  Servers,
} from '@erp-proxy/gateway/upstream';
import { CONSOLE_FOLDER, ConnectionLimit, createServer, LoadShedder, listen } from '@erp-proxy/http';
import { combineEvents } from '@erp-proxy/observe/events';
import { checkIssuers, checkTraffic } from '@erp-proxy/observe/health';
import { createLogger, describeError, type Logger, logEvents } from '@erp-proxy/observe/log';
import { createMetrics, type GatherMetrics, type MetricSources } from '@erp-proxy/observe/metrics';
import { StartError } from '@erp-proxy/observe/start-error';
import { classifyAction } from '@erp-proxy/odoo';
import { createIdempotency, createRelay, type Idempotency } from '@erp-proxy/traffic/idempotency';
import { DataRequests, KeyLimits, MonthCounts, RetryBudget } from '@erp-proxy/traffic/limits';
import { chooseConcurrencyBounds, DatabaseLimiters } from '@erp-proxy/traffic/limits/database';
import type { Settings } from '../config/schema.ts';
import { openReplicas, type Replicas } from './replicas.ts';
import { openServices, type Services, type ServicesOptions } from './services.ts';

export interface AppOptions {
  settings: Settings;
  /** Version of this program. */
  version: string;
  /** Milliseconds since 1970; tests pass their own. */
  clock?: () => number;
  /** Monotonic clock in milliseconds; tests pass their own. */
  nowMs?: () => number;
  /** Default: a logger that writes to standard output. */
  logger?: Logger;
  /** In one of several workers: gathers the metrics of all workers. */
  gatherMetrics?: GatherMetrics | undefined;
  /** Intervals and time limits of the work for subscriptions; tests set shorter ones. */
  subscriptionTimes?: Partial<WorkerTimes>;
  /** Folder of the built console; tests pass their own. */
  consoleFolder?: string;
  /** Starts the sandbox for a person without an Odoo server. Left out if there is no sandbox. */
  startSandbox?: ServicesOptions['startSandbox'];
}

export interface App
  extends Pick<
    Services,
    | 'store'
    | 'keys'
    | 'instances'
    | 'connections'
    | 'audit'
    | 'egress'
    | 'keyRotation'
    | 'expiryNotices'
    | 'subscriptions'
    | 'adminFor'
  > {
  server: ReturnType<typeof createServer>;
  databaseLimiters: DatabaseLimiters;
  subscriptionWorker: SubscriptionWorker;
  logger: Logger;
  /** Starts to listen; resolves to the base address. */
  listen(): Promise<string>;
  /** Stops gracefully: new calls get 503, running calls may end within the grace time, then everything is closed. */
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Time for deliveries that are being sent at shutdown. A delivery that has not ended by then is sent again later. */
const SENDING_GRACE_MS = 5000;
/** Time for the last answers to be sent after every call has ended. */
const LAST_BYTES_MS = 1000;
/** Maximum number of databases whose learned concurrency limit is kept. */
const DATABASES_MAX = 10_000;

export async function createApp({
  settings,
  version,
  clock = Date.now,
  nowMs = () => performance.now(),
  logger = createLogger(settings.log.level),
  gatherMetrics,
  subscriptionTimes,
  consoleFolder = CONSOLE_FOLDER,
  startSandbox = null,
}: AppOptions): Promise<App> {
  const { issuers, errors } = parseIssuers(settings.auth);
  const { provider, errors: operatorErrors } = parseOperators(settings.operators, settings.auth.issuers);
  errors.push(...operatorErrors);
  if (errors.length > 0) throw new StartError(errors.join('\n'));
  const times = { ...WORKER_TIMES, ...subscriptionTimes };
  const services = await openServices({
    settings,
    version,
    clock,
    logger,
    listUpstreams: () => showUpstreams(databaseLimiters.states(), (database) => servers.describe(database)),
    checkMore: () => ({
      traffic: checkTraffic(admission, connectionLimit),
      ...(replicas && { redis: replicas.check() }),
      ...(tokens && { token_issuers: checkIssuers(tokens.states()) }),
    }),
    onKeyNotice: (notice) => events.keyNoticed(notice),
    isServing: true,
    startSandbox,
    sendTimeoutMs: times.sendMs,
  });
  const { store, keys, instances, audit, egress, keyRotation, approvals, expiryNotices, statistics } =
    services;
  const tokens = await openTokens(issuers, services, { clock, nowMs, logger });
  const tracing = await startTracing(settings.otel, services, { version, clock, nowMs, logger });
  const months = new MonthCounts({
    clock,
    store: store.callCounts,
    onError: (error) => logger.error('calls per month', { err: describeError(error) }),
  });
  const replicas = await openReplicas({ settings, keys, logger, clock, months, nowMs });
  const personRules = issuers.find(({ name }) => name === provider?.name)?.rules ?? [];
  const operators = await openOperators(provider, personRules, settings, services, replicas, {
    clock,
    nowMs,
    logger,
  });
  const databaseLimiters = new DatabaseLimiters({
    concurrency: chooseConcurrencyBounds(settings.upstream),
    queueMax: settings.upstream.queue,
    databasesMax: DATABASES_MAX,
    nowMs,
    ownDelayMs: () => loadShedder.delayMs,
    // The setting is the minimum: Redis does not know all workers right after the start and while it is away.
    processes: () => Math.max(settings.workers, replicas?.count() ?? 1),
  });
  const servers = new Servers({
    egress,
    nowMs,
    timeoutMs: settings.upstream.timeoutMs,
    bytesMax: settings.upstream.answerBytesMax,
  });
  const databases = () => databaseLimiters.states();
  const dataRequests = new DataRequests({
    process: settings.data.requestsMax,
    client: settings.data.clientRequestsMax,
  });
  const metrics = createMetrics({
    classifyMethod: classifyAction,
    nameDatabase: (upstream, db) => nameDatabaseAcrossTrusts({ origin: upstream, pathPrefix: '', db }),
    sources: listMetricSources(services, replicas, {
      databases,
      dataRequests: () => dataRequests.running,
      issuers: () => tokens?.states() ?? [],
      subscriptions: () => subscriptionWorker.states().backlogs,
      subscriptionWork: () => {
        const { reading, sending } = subscriptionWorker.states();
        return { reading, sending };
      },
      now: clock,
      version,
    }),
    gather: gatherMetrics,
  });
  const events = combineEvents([logEvents(logger), metrics.events, auditEvents(audit), statistics.events]);
  const loadShedder = new LoadShedder({
    nowMs,
    atEndOfTurn: setImmediate,
    onRefused: (count) => events.requestsShed(count),
  });
  const connectionLimit = new ConnectionLimit({ nowMs, onRefused: () => events.connectionsRefused(1) });
  const admission = new Admission();
  const idempotency = openIdempotency(settings, services, replicas, { nowMs, logger });
  const changes = createChanges({
    instances,
    secret: keys.deriveSecret('cursors of changes'),
    overlapSeconds: settings.changes.overlapSeconds,
    timeoutMs: settings.upstream.timeoutMs,
    nowMs,
  });
  const run = createRunRequest({
    admission,
    clients: tokens?.joinTo(keys) ?? keys,
    slowdown: createSlowdown({ clock: nowMs }),
    tracing,
    limits: replicas?.limits ?? new KeyLimits(nowMs, clock, () => settings.workers, months),
    dataRequests,
    idempotency,
    approvals,
    instances,
    connections: services.connections,
    findConnectUrl: (instance) => printConnectUrl(settings.http.publicUrl, instance),
    egress,
    nameCredentials: createCredentialNames(keys.deriveSecret('names of credentials')),
    databaseLimiters,
    retries: { budget: new RetryBudget(nowMs), max: settings.upstream.retries, random: Math.random },
    reads: createReads({ nowMs, cacheBytesMax: settings.cache.bytesMax, answers: replicas?.answers ?? null }),
    credentials: createCredentialMemory(
      settings.upstream.refusedCredentialsTtlMs,
      nowMs,
      new LoginTrials(nowMs, () => settings.workers),
    ),
    servers,
    modelFields: new ModelFields({ nowMs }),
    knownOrders: new KnownOrders({ nowMs }),
    knownNames: new KnownNames({ nowMs }),
    protocolFor: createProtocolChoice(settings.upstream),
    events,
    nowMs,
    settings: {
      timeoutMs: settings.upstream.timeoutMs,
      answerBytesMax: settings.upstream.answerBytesMax,
      isDebug: settings.errors.debug,
      batchConcurrency: settings.batch.concurrency,
      answerBytesPerSecondMin: settings.http.answerBytesPerSecondMin,
    },
  });
  const server = createServer({
    run,
    admission,
    events,
    version,
    http: settings.http,
    issuers,
    loadShedder,
    metrics,
    checkReadiness: services.check,
    admin: {
      token: settings.admin.token,
      operators,
      async authenticateToken(text) {
        const found = (await tokens?.authenticate(text)) ?? null;
        return found === null || 'refused' in found ? null : found.key.person;
      },
      adminFor: services.adminFor,
      keys,
      tokens: services.operatorTokens,
      // Separate from the slowdown of calls, so that bad client keys do not slow administrators down.
      slowdown: createSlowdown({ clock: nowMs }),
      clock,
      events,
      claimOnce: (name, ttlMs) => claimOnce(store, name, ttlMs),
      recordLogin: (login) => audit.recordLogin(login),
    },
    connectionsOf: services.connectionsOf,
    console: { ...settings.console, folder: consoleFolder },
    multiCallServices: {
      exporter: createExporter({
        nowMs,
        random: Math.random,
        bytesPerSecondMin: settings.http.answerBytesPerSecondMin,
        events,
      }),
      mcp: createMcp({
        instances,
        changes,
        secret: keys.deriveSecret('mcp confirmations'),
        relay: createRelay(replicas?.idempotency ?? store.idempotency),
        version,
        clock,
        nowMs,
        onFault: (requestId, error) => events.faultSeen(requestId, error),
      }),
      changes,
    },
  });
  const reader = createSubscriptionReader({
    run,
    keys,
    instances,
    overlapSeconds: settings.changes.overlapSeconds,
    nowMs,
  });
  const subscriptionWorker = createSubscriptionWorker({
    store,
    reader,
    notices: services.expiryNotices,
    check: createDeliveryCheck({ keys, check: reader.checkReading, clock, nowMs }),
    send: services.sendDelivery,
    openSecrets: services.subscriptions.openSecrets,
    owner: randomUUID(),
    clock,
    nowMs,
    random: Math.random,
    retentionMs: settings.subscriptions.retentionDays * DAY_MS,
    keptMax: settings.subscriptions.deliveriesMax,
    times,
    events,
    onError: (error) => logger.error('subscriptions', { err: describeError(error) }),
  });

  return {
    server,
    store,
    keys,
    instances,
    connections: services.connections,
    audit,
    egress,
    keyRotation,
    adminFor: services.adminFor,
    expiryNotices,
    subscriptions: services.subscriptions,
    subscriptionWorker,
    databaseLimiters,
    logger,
    async listen() {
      const url = await listen(server, settings.http, connectionLimit);
      keyRotation.start();
      void tokens?.readKeys();
      expiryNotices.start();
      statistics.start();
      subscriptionWorker.start();
      return url;
    },
    async stop() {
      const graceEndsMs = nowMs() + settings.http.shutdownGraceMs;
      await Promise.all([
        admission.stop(settings.http.shutdownGraceMs),
        subscriptionWorker.close(Math.min(settings.http.shutdownGraceMs, SENDING_GRACE_MS)),
      ]);
      // Not waited for without limit: clients that do not read their answer, or never finish their request, would keep
      // the server open.
      const closed = server.close();
      if ((await waitFor(closed, { timeoutMs: LAST_BYTES_MS })) === TIMED_OUT)
        server.server.closeAllConnections();
      await closed;
      await idempotency.close();
      await replicas?.close();
      tokens?.close();
      operators?.close();
      await months.close();
      await tracing?.close(Math.max(graceEndsMs - nowMs(), LAST_BYTES_MS));
      await services.close();
    },
  };
}

function listMetricSources(
  { store, audit, keyRotation, approvals, expiryNotices }: Services,
  replicas: Replicas | null,
  others: Pick<
    MetricSources,
    'databases' | 'dataRequests' | 'issuers' | 'subscriptions' | 'subscriptionWork' | 'now' | 'version'
  >,
): MetricSources {
  return {
    ...others,
    audit: () => audit,
    approvals: () => approvals.counts,
    instanceKeys: () => keyRotation.states(),
    endingKeys: () => expiryNotices.states(),
    isStoreUp: () => store.isWatching && store.trouble === null,
    storeStatementsGivenUp: () => store.statementsGivenUp ?? 0,
    isRedisUp: replicas?.isUp ?? null,
  };
}

/** Null if no issuers are configured; the library for tokens is not loaded then. */
async function openTokens(
  issuers: readonly Issuer[],
  { egress, store }: Services,
  { clock, nowMs, logger }: { clock: () => number; nowMs: () => number; logger: Logger },
): Promise<Tokens | null> {
  if (issuers.length === 0) return null;
  const { createTokens } = await import('@erp-proxy/control/tokens');
  const onFailure = (issuer: string, error: unknown) =>
    logger.warn('issuer keys not read', { issuer, reason: (error as Error).message });
  return createTokens({ issuers, egress, store, clock, nowMs, onFailure });
}

/** Address of the page on which a person connects; null if the proxy does not know its own address. */
function printConnectUrl(publicUrl: string | null, instance: string): string | null {
  return publicUrl === null
    ? null
    : `${publicUrl.replace(/\/$/, '')}/connect/${encodeURIComponent(instance)}`;
}

/** A new owner for each claim, so that a second claim of the same name fails. */
function claimOnce(
  { leases }: Pick<Services['store'], 'leases'>,
  name: string,
  ttlMs: number,
): Promise<boolean> {
  return leases.acquire(name, randomUUID(), ttlMs);
}

/**
 * Needs the secret of the client, which is not in the store, so that a copy of the store opens no session and makes
 * none. A client secret that can be guessed does not suffice either.
 */
function openSessionSeals({ clientSecret }: OperatorProvider, keys: Services['keys']): Vault {
  const salt = keys.deriveSecret('sessions of operators');
  const key = hkdfSync('sha256', clientSecret, salt, 'erp-proxy sessions of operators v1', 32);
  return createVault({ masterKey: Buffer.from(key).toString('base64'), otherMasterKeys: [] })!;
}

/** Null if no provider is configured; the library for OpenID Connect is not loaded then. */
async function openOperators(
  provider: OperatorProvider | null,
  personRules: readonly ClaimRule[],
  settings: Settings,
  { egress, keys, store }: Services,
  replicas: Replicas | null,
  { clock, nowMs, logger }: { clock: () => number; nowMs: () => number; logger: Logger },
): Promise<Operators | null> {
  const { publicUrl } = settings.http;
  if (provider === null || publicUrl === null) return null;
  const { createProvider } = await import('@erp-proxy/admin/operators/provider');
  return createOperators({
    settings: provider,
    personRules,
    provider: createProvider({ settings: provider, egress, clock, nowMs }),
    redirectUri: `${publicUrl.replace(/\/$/, '')}/admin/v1/session/callback`,
    vault: openSessionSeals(provider, keys),
    store,
    idempotency: replicas?.idempotency ?? store.idempotency,
    claimOnce: (name, ttlMs) => claimOnce(store, name, ttlMs),
    clock,
    nowMs,
    onError: (error) => logger.warn('operators', { err: describeError(error) }),
    onRefused: (refused) => logger.warn('operator not signed in', refused),
  });
}

/** Null if traces are off; the SDK is not loaded then. */
async function startTracing(
  { enabled, endpoint, ...settings }: Settings['otel'],
  { egress }: Services,
  { logger, ...others }: { version: string; clock: () => number; nowMs: () => number; logger: Logger },
): Promise<OpenTracing | null> {
  if (!enabled || endpoint === null) return null;
  const { openTracing } = await import('@erp-proxy/gateway/traces');
  return openTracing({
    ...others,
    egress,
    settings: { ...settings, endpoint },
    process: `${hostname()} ${process.pid}`,
    onFailure: (reason) => logger.warn('traces not exported', { reason }),
    onRecovery: (lost) => logger.info('traces exported again', { lost }),
  });
}

function openIdempotency(
  { idempotency: settings }: Settings,
  { store, keys }: Services,
  replicas: Replicas | null,
  { nowMs, logger }: { nowMs: () => number; logger: Logger },
): Idempotency {
  return createIdempotency({
    store: replicas?.idempotency ?? store.idempotency,
    secret: keys.deriveSecret('idempotency keys'),
    keptForMs: settings.keptHours * HOUR_MS,
    answerBytesMax: settings.answerBytesMax,
    clientBounds: { keysMax: settings.clientKeysMax, answerBytesMax: settings.clientBytesMax },
    nowMs,
    onError: (error) => logger.error('idempotency', { err: describeError(error) }),
  });
}
