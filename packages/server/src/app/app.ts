/**
 * The composition root: creates the parts of the server from the settings and connects them. Only app.ts, services.ts
 * and replicas.ts know all parts. They make no decisions of their own.
 */
import { randomUUID } from 'node:crypto';
import { describeWithdrawal, showUpstreams } from '@erp-proxy/admin';
import { createOperators, type OperatorProvider, type Operators } from '@erp-proxy/admin/operators';
import { createMcp } from '@erp-proxy/agents';
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { auditEvents } from '@erp-proxy/control/audit';
import { createInstanceList, type Vault } from '@erp-proxy/control/instances';
import { createSlowdown } from '@erp-proxy/control/keys';
import type { Tokens } from '@erp-proxy/control/tokens';
import type { ClaimRule, Issuer, OwnIssuer } from '@erp-proxy/control/tokens/issuers';
import { createChanges } from '@erp-proxy/data/changes';
import { readDocument, sendDocument } from '@erp-proxy/data/documents';
import { createExporter } from '@erp-proxy/data/export';
import { createFleet } from '@erp-proxy/data/fleet';
import {
  createJobs,
  createJobWorker,
  JOB_TIMES,
  type Jobs,
  type JobTimes,
  type JobWorker,
} from '@erp-proxy/data/jobs';
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
import { checkAuditSink, checkIssuers, checkSecretFiles, checkTraffic } from '@erp-proxy/observe/health';
import { createLogger, describeError, type Logger, logEvents } from '@erp-proxy/observe/log';
import { createMetrics, type GatherMetrics, type MetricSources } from '@erp-proxy/observe/metrics';
import { StartError } from '@erp-proxy/observe/start-error';
import { classifyAction } from '@erp-proxy/odoo';
import { createIdempotency, createRelay, type Idempotency } from '@erp-proxy/traffic/idempotency';
import { DataRequests, KeyLimits, ParallelCalls, PeriodCounts, RetryBudget } from '@erp-proxy/traffic/limits';
import { chooseConcurrencyBounds, DatabaseLimiters } from '@erp-proxy/traffic/limits/database';
import { explainContradictions } from '../config/explain-settings.ts';
import type { SettingName, Settings } from '../config/schema.ts';
import { type SecretFile, type SecretFiles, watchSecretFiles } from '../config/secret-files.ts';
import { openAuditSink } from './open-audit-sink.ts';
import { describeOwnIssuer, openAuthorization, openSigningKeys } from './open-authorization.ts';
import { openSignals } from './open-signals.ts';
import { parseProviders } from './parse-providers.ts';
import { openReplicas, type Replicas } from './replicas.ts';
import { openEgress, openServices, type Services, type ServicesOptions } from './services.ts';
import { describeTakeover, listTakers, openSessionSeals } from './take-over.ts';

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
  /** Times of the work on jobs; tests set shorter ones. */
  jobTimes?: Partial<JobTimes>;
  /** Folder of the built console; tests pass their own. */
  consoleFolder?: string;
  /** Starts the sandbox for a person without an Odoo server. Left out if there is no sandbox. */
  startSandbox?: ServicesOptions['startSandbox'];
  /** Files that settings have come from, and which are read again. */
  secretFiles?: readonly SecretFile[];
  /** Called after the value of a file was taken over. */
  onSecretTaken?: (name: SettingName, settings: Settings) => void;
}

export interface App
  extends Pick<
    Services,
    | 'store'
    | 'keys'
    | 'instances'
    | 'connections'
    | 'consents'
    | 'audit'
    | 'egress'
    | 'keyRotation'
    | 'personKeyRotation'
    | 'expiryNotices'
    | 'subscriptions'
    | 'adminFor'
  > {
  server: ReturnType<typeof createServer>;
  databaseLimiters: DatabaseLimiters;
  subscriptionWorker: SubscriptionWorker;
  jobWorker: JobWorker;
  secretFiles: SecretFiles;
  logger: Logger;
  /** Starts to listen; resolves to the base address. */
  listen(): Promise<string>;
  /** Stops gracefully: new calls get 503, running calls may end within the grace time, then everything is closed. */
  stop(): Promise<void>;
}

const SECOND_MS = 1000;
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
  logger: ownLogger = createLogger(settings.log.level),
  gatherMetrics,
  subscriptionTimes,
  jobTimes,
  consoleFolder = CONSOLE_FOLDER,
  startSandbox = null,
  secretFiles: files = [],
  onSecretTaken = () => {},
}: AppOptions): Promise<App> {
  const { issuers, provider, signIn, errors, warnings } = parseProviders(settings);
  if (errors.length > 0) throw new StartError(errors.join('\n'));
  const faults = explainContradictions(settings);
  if (faults.length > 0) throw new StartError(faults.join('\n'));
  const ownEgress = openEgress(settings);
  const signals = await openSignals(settings.otel, {
    egress: ownEgress,
    version,
    clock,
    nowMs,
    logger: ownLogger,
  });
  const logger = signals.copyLines(ownLogger, settings.log.level);
  for (const warning of warnings) logger.warn('settings', { warning });
  const times = { ...WORKER_TIMES, ...subscriptionTimes };
  /** The settings in use: those of the start, with the secrets that were taken over since. */
  let current = settings;
  const services = await openServices({
    egress: ownEgress,
    settings,
    version,
    clock,
    logger,
    operatorProvider: provider,
    listUpstreams: () => showUpstreams(databaseLimiters.states(), (database) => servers.describe(database)),
    checkMore: () => ({
      traffic: checkTraffic(admission, connectionLimit),
      ...(replicas && { redis: replicas.check() }),
      ...(tokens && { token_issuers: checkIssuers(tokens.states()) }),
      ...(auditSink && { audit_sink: checkAuditSink(auditSink) }),
      ...(files.length > 0 && { secret_files: checkSecretFiles(secretFiles.problems) }),
    }),
    onKeyNotice: (notice) => events.keyNoticed(notice),
    isServing: true,
    startSandbox,
    sendTimeoutMs: times.sendMs,
  });
  const { store, keys, instances, audit, egress, keyRotation, personKeyRotation, approvals } = services;
  const { expiryNotices, statistics } = services;
  const signingKeys = signIn && openSigningKeys(services, { clock, logger });
  const own = signIn && signingKeys && describeOwnIssuer(signIn, signingKeys, services);
  const tokens = await openTokens(issuers, own, services, { clock, nowMs, logger });
  const periods = new PeriodCounts({
    clock,
    store: store.callCounts,
    onError: (error) => logger.error('counts of calls', { err: describeError(error) }),
  });
  const replicas = await openReplicas({ settings, keys, logger, clock, periods, nowMs });
  const personRules = issuers.find(({ name }) => name === provider?.name)?.rules ?? [];
  const sessionSeals = provider && openSessionSeals(provider.clientSecret, services.keys);
  const operators = await openOperators(provider, personRules, settings, services, replicas, {
    readClientSecret: () => current.operators.clientSecret ?? '',
    vault: sessionSeals,
    clock,
    nowMs,
    logger,
  });
  const authorization =
    signIn &&
    signingKeys &&
    (await openAuthorization(signIn, signingKeys, operators, services, { clock, nowMs, logger }));
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
  const parallelCalls = new ParallelCalls(settings.fleet.concurrency);
  const metrics = createMetrics({
    classifyMethod: classifyAction,
    nameDatabase: (upstream, db) => nameDatabaseAcrossTrusts({ origin: upstream, pathPrefix: '', db }),
    sources: listMetricSources(services, replicas, {
      auditSinkOldestAt: () => auditSink?.oldestAt ?? null,
      databases,
      dataRequests: () => dataRequests.running,
      fleetCalls: () => parallelCalls.running,
      jobs: () => jobWorker.running,
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
  signals.sendMetrics(metrics.takeSnapshot);
  const events = combineEvents([
    logEvents(logger),
    metrics.events,
    auditEvents(audit),
    statistics.events,
    { jobEnded: () => subscriptionWorker.readJobs() },
  ]);
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
    deletedIdsMax: settings.changes.deletedIdsMax,
    timeoutMs: settings.upstream.timeoutMs,
    nowMs,
  });
  const clients = tokens?.joinTo(keys) ?? keys;
  const jobs = openJobs(settings, services, { clock, logger });
  const run = createRunRequest({
    admission,
    clients,
    deferrals: jobs,
    slowdown: createSlowdown({ clock: nowMs }),
    tracing: signals.tracing,
    limits: replicas?.limits ?? new KeyLimits(nowMs, clock, () => settings.workers, periods),
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
  const instanceList = createInstanceList(instances, nowMs);
  const onFault = (requestId: string, error: unknown) => events.faultSeen(requestId, error);
  const exporter = createExporter({
    nowMs,
    random: Math.random,
    bytesPerSecondMin: settings.http.answerBytesPerSecondMin,
    events,
  });
  const server = createServer({
    run,
    jobs,
    admission,
    events,
    version,
    http: settings.http,
    issuers,
    authorization,
    loadShedder,
    metrics,
    checkReadiness: services.check,
    admin: {
      readToken: () => current.admin.token,
      operators,
      async authenticateToken(text) {
        const found = (await tokens?.authenticate(text)) ?? null;
        // An application does not manage what its person has connected and allowed.
        if (found === null || 'refused' in found || found.scopes !== undefined) return null;
        return found.key.person;
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
    ownOf: services.ownOf,
    console: { ...settings.console, folder: consoleFolder },
    multiCallServices: {
      exporter,
      fleet: createFleet({
        instances: instanceList,
        parallelCalls,
        bytesPerSecondMin: settings.http.answerBytesPerSecondMin,
        onFault,
      }),
      mcp: createMcp({
        instances: instanceList,
        changes,
        documents: { read: readDocument },
        parallelCalls,
        secret: keys.deriveSecret('mcp confirmations'),
        relay: createRelay(replicas?.idempotency ?? store.idempotency),
        version,
        clock,
        nowMs,
        onFault,
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
    jobs,
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
  const auditSink = await openAuditSink(settings, services, { version, logger });
  const jobWorker = createJobWorker({
    jobs,
    store: store.jobs,
    vault: services.jobVault,
    run,
    keys,
    clients,
    routes: {
      execute: {
        via: 'job',
        values: 'preferred',
        isSingleCall: true,
        takesApprovals: true,
        limits: 'concurrency',
        timeoutMs: settings.jobs.secondsMax * SECOND_MS,
        serve: (runner) => runner.run(runner.bytes, runner.exchange.writer),
      },
      export: {
        via: 'export',
        data: 'export',
        values: 'preferred',
        limits: 'concurrency',
        serve: (runner) => exporter.serve(runner),
      },
      document: {
        via: 'document',
        data: 'documents',
        values: 'unconverted',
        limits: 'concurrency',
        timeoutMs: settings.jobs.secondsMax * SECOND_MS,
        serve: sendDocument,
      },
    },
    runMs: settings.jobs.secondsMax * SECOND_MS,
    resultBytesMax: settings.jobs.bytesMax,
    totalBytesMax: settings.jobs.totalBytesMax,
    keepMs: settings.jobs.keepHours * HOUR_MS,
    concurrency: settings.jobs.concurrency,
    clientConcurrency: settings.jobs.clientConcurrency,
    times: { ...JOB_TIMES, ...jobTimes },
    clock,
    nowMs,
    random: Math.random,
    events,
    onError: (error) => logger.error('jobs', { err: describeError(error) }),
  });
  const secretFiles = watchSecretFiles({
    files,
    settings,
    takers: listTakers({
      services,
      replicas,
      sessionSeals,
      collectors: [signals, ...(auditSink ? [auditSink] : [])],
    }),
    onTaken(name, next) {
      current = next;
      logger.info('secret taken over', { setting: name });
      audit.queueAdminAction(describeTakeover(name));
      onSecretTaken(name, next);
    },
    onProblem: (name, problem) => logger.warn('secret not taken over', { setting: name, problem }),
    onError: (error) => logger.error('secret files', { err: describeError(error) }),
  });

  return {
    server,
    store,
    keys,
    instances,
    connections: services.connections,
    consents: services.consents,
    audit,
    egress,
    keyRotation,
    personKeyRotation,
    adminFor: services.adminFor,
    expiryNotices,
    subscriptions: services.subscriptions,
    subscriptionWorker,
    jobWorker,
    databaseLimiters,
    secretFiles,
    logger,
    async listen() {
      const url = await listen(server, settings.http, connectionLimit);
      keyRotation.start();
      personKeyRotation.start();
      void tokens?.readKeys();
      expiryNotices.start();
      statistics.start();
      subscriptionWorker.start();
      jobWorker.start();
      secretFiles.start();
      auditSink?.start();
      return url;
    },
    async stop() {
      const graceEndsMs = nowMs() + settings.http.shutdownGraceMs;
      await secretFiles.close();
      await auditSink?.close();
      await Promise.all([
        admission.stop(settings.http.shutdownGraceMs),
        subscriptionWorker.close(Math.min(settings.http.shutdownGraceMs, SENDING_GRACE_MS)),
        jobWorker.close(settings.http.shutdownGraceMs + LAST_BYTES_MS),
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
      await periods.close();
      await signals.close(Math.max(graceEndsMs - nowMs(), LAST_BYTES_MS));
      await services.close();
    },
  };
}

function listMetricSources(
  { store, audit, keyRotation, approvals, expiryNotices }: Services,
  replicas: Replicas | null,
  others: Pick<
    MetricSources,
    | 'auditSinkOldestAt'
    | 'databases'
    | 'dataRequests'
    | 'fleetCalls'
    | 'jobs'
    | 'issuers'
    | 'subscriptions'
    | 'subscriptionWork'
    | 'now'
    | 'version'
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

/** Null if no tokens are accepted; the library for tokens is not loaded then. */
async function openTokens(
  issuers: readonly Issuer[],
  own: OwnIssuer | null,
  { egress, store }: Services,
  { clock, nowMs, logger }: { clock: () => number; nowMs: () => number; logger: Logger },
): Promise<Tokens | null> {
  if (issuers.length === 0 && own === null) return null;
  const { createTokens } = await import('@erp-proxy/control/tokens');
  const onFailure = (issuer: string, error: unknown) =>
    logger.warn('issuer keys not read', { issuer, reason: (error as Error).message });
  return createTokens({ issuers, own, egress, store, clock, nowMs, onFailure });
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

/** Null if no provider is configured; the library for OpenID Connect is not loaded then. */
async function openOperators(
  provider: OperatorProvider | null,
  personRules: readonly ClaimRule[],
  settings: Settings,
  { egress, store, consents, describeOwnAction }: Services,
  replicas: Replicas | null,
  {
    readClientSecret,
    vault,
    clock,
    nowMs,
    logger,
  }: {
    readClientSecret: () => string;
    vault: Vault | null;
    clock: () => number;
    nowMs: () => number;
    logger: Logger;
  },
): Promise<Operators | null> {
  const { publicUrl } = settings.http;
  if (provider === null || publicUrl === null || vault === null) return null;
  const { createProvider } = await import('@erp-proxy/admin/operators/provider');
  return createOperators({
    settings: provider,
    personRules,
    provider: createProvider({ settings: provider, readClientSecret, egress, clock, nowMs }),
    redirectUri: `${publicUrl.replace(/\/$/, '')}/admin/v1/session/callback`,
    vault,
    store,
    idempotency: replicas?.idempotency ?? store.idempotency,
    claimOnce: (name, ttlMs) => claimOnce(store, name, ttlMs),
    clock,
    nowMs,
    onError: (error) => logger.warn('operators', { err: describeError(error) }),
    endConsents: (whose) =>
      consents.removeOf(whose, (consent) =>
        describeWithdrawal(consent, describeOwnAction, 'the provider has signed the person out'),
      ),
    onRefused: (refused) => logger.warn('operator not signed in', refused),
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

function openJobs(
  all: Settings,
  { store, keys, jobVault, subscriptions }: Services,
  { clock, logger }: { clock: () => number; logger: Logger },
): Jobs {
  const { jobs: settings } = all;
  const { publicUrl, answerBytesPerSecondMin } = all.http;
  return createJobs({
    store: store.jobs,
    findCallback: (name) => subscriptions.findCallback(name),
    vault: jobVault,
    secret: keys.deriveSecret('names of jobs'),
    clock,
    keepMs: settings.keepHours * HOUR_MS,
    bounds: {
      clientMax: settings.clientMax,
      waitingMax: settings.waitingMax,
      bytesMax: settings.totalBytesMax,
    },
    basePath: publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, ''),
    bytesPerSecondMin: answerBytesPerSecondMin,
    onError: (error) => logger.error('jobs', { err: describeError(error) }),
  });
}
