/**
 * The composition root: builds the server from its settings and the services; with services.ts and replicas.ts it alone knows
 * every part. Nothing here decides anything about a call.
 */
import type { UpstreamView } from '@erp-proxy/contract';
import type { Settings } from '../config/schema.ts';
import { createCredentialNames } from '../execute/call/credentials-id.ts';
import { Admission } from '../execute/request/admission.ts';
import { createCredentialMemory } from '../execute/upstream/credential-memory.ts';
import { LoginTrials } from '../execute/upstream/login-trials.ts';
import { createProtocolChoice } from '../execute/upstream/protocol-choice.ts';
import { Servers } from '../execute/upstream/servers.ts';
import { createReads } from '../execute/upstream/share-read.ts';
import { nameDatabaseAcrossTrusts } from '../execute/upstream/target-names.ts';
import { createServer } from '../http/server.ts';
import { LoadShedder } from '../http/shedding/load-shedder.ts';
import { createIdempotency } from '../idempotency/idempotency.ts';
import { createSlowdown } from '../keys/slowdown.ts';
import { DatabaseLimiters, type DatabaseLimitersOptions } from '../limits/database/database-limiters.ts';
import { KeyLimits } from '../limits/key-limits.ts';
import { RetryBudget } from '../limits/retry-budget.ts';
import { combineEvents, type Events } from '../observe/events.ts';
import { createLogger, describeError, type Logger, logEvents } from '../observe/log.ts';
import { createMetrics, type GatherMetrics } from '../observe/metrics.ts';
import { classifyAction } from '../odoo/methods.ts';
import { openReplicas } from './replicas.ts';
import { openServices, type Services, StartError } from './services.ts';

export interface AppOptions {
  settings: Settings;
  /** Of this program. */
  version: string;
  /** Milliseconds since 1970; tests set their own. */
  clock?: () => number;
  /** A clock that never goes back, in milliseconds; tests set their own. */
  nowMs?: () => number;
  /** In place of the one that writes to standard output. */
  logger?: Logger;
  /** For one worker of several, whose metrics are those of all. */
  gatherMetrics?: GatherMetrics | undefined;
}

export interface App
  extends Pick<Services, 'store' | 'keys' | 'instances' | 'audit' | 'egress' | 'keyRotation'> {
  server: ReturnType<typeof createServer>;
  databaseLimiters: DatabaseLimiters;
  logger: Logger;
  /** Starts to listen; resolves to the base address. */
  listen(): Promise<string>;
  /** Stops gracefully: new calls get 503, running ones end within the grace time, then everything is closed. */
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Connections that may wait to be taken: with Node's 511, each one of a burst beyond waits a second to try again. */
const BACKLOG = 4096;
/** Time for the last answers to leave, once every call has ended. */
const LAST_BYTES_MS = 1000;
/** Databases of which it is remembered how many calls they bear. */
const DATABASES_MAX = 10_000;
const UPSTREAMS_SHOWN_MAX = 1_000;
/** Where the number of calls at once starts to find its level: what a small Odoo server bears. */
const CONCURRENCY_AT_FIRST = 8;

export async function createApp({
  settings,
  version,
  clock = Date.now,
  nowMs = () => performance.now(),
  logger,
  gatherMetrics,
}: AppOptions): Promise<App> {
  const log = logger ?? createLogger(settings.log.level);
  const services = await openServices({
    settings,
    version,
    clock,
    logger: log,
    listUpstreams: () => databaseLimiters.states().slice(0, UPSTREAMS_SHOWN_MAX).map(showUpstream),
    isServing: true,
  });
  const { store, keys, instances, audit, egress, keyRotation } = services;
  const replicas = await openReplicas({ settings, keys, logger: log, clock, nowMs });
  const limits = replicas?.limits ?? new KeyLimits(nowMs, clock, () => settings.workers);
  const databaseLimiters = createDatabaseLimiters(settings, nowMs, {
    // At the start, and while Redis is away, it may not know of all workers.
    processes: () => Math.max(settings.workers, replicas?.count() ?? 1),
    ownDelayMs: () => loadShedder.delayMs,
    ...(replicas && { peers: replicas.breakers }),
  });
  const metrics = createMetrics(
    classifyAction,
    {
      audit: () => audit,
      instanceKeys: () => keyRotation.states(),
      isStoreUp: () => store.isWatching && store.trouble === null,
      storeStatementsGivenUp: () => store.statementsGivenUp ?? 0,
      isRedisUp: replicas?.isUp ?? null,
      databases: () => databaseLimiters.states(),
      nameDatabase: (upstream, db) => nameDatabaseAcrossTrusts({ origin: upstream, pathPrefix: '', db }),
      now: clock,
      version,
    },
    gatherMetrics,
  );
  const idempotency = createIdempotency({
    store: replicas?.idempotency ?? store.idempotency,
    secret: keys.deriveSecret('idempotency keys'),
    keptForMs: settings.idempotency.keptHours * HOUR_MS,
    answerBytesMax: settings.idempotency.answerBytesMax,
    clientBounds: {
      keysMax: settings.idempotency.clientKeysMax,
      answerBytesMax: settings.idempotency.clientBytesMax,
    },
    nowMs,
    onError: (error) => log.error('idempotency', { err: describeError(error) }),
  });
  const admission = new Admission();
  const readiness = async () => ({
    traffic: {
      state: admission.isStopping ? ('failed' as const) : ('ok' as const),
      detail: admission.isStopping ? 'shutting down' : null,
    },
    ...(await services.check()),
    ...(replicas && { redis: replicas.check() }),
  });
  const events = combineEvents([logEvents(log), metrics, auditEvents(audit)]);
  const loadShedder = new LoadShedder({
    nowMs,
    atEndOfTurn: setImmediate,
    onRefused: (count) => events.requestsShed(count),
  });
  const server = createServer({
    version,
    http: settings.http,
    keys,
    slowdown: createSlowdown({ clock: nowMs }),
    loadShedder,
    admission,
    egress,
    instances,
    nameCredentials: createCredentialNames(keys.deriveSecret('names of credentials')),
    limits,
    idempotency,
    databaseLimiters,
    retries: { budget: new RetryBudget(nowMs), max: settings.upstream.retries, random: Math.random },
    reads: createReads({ nowMs, cacheBytesMax: settings.cache.bytesMax, answers: replicas?.answers ?? null }),
    credentials: createCredentialMemory(
      settings.upstream.refusedCredentialsTtlMs,
      nowMs,
      new LoginTrials(nowMs, () => settings.workers),
    ),
    servers: new Servers({
      egress,
      nowMs,
      timeoutMs: settings.upstream.timeoutMs,
      bytesMax: settings.upstream.answerBytesMax,
    }),
    protocolFor: createProtocolChoice(settings.upstream),
    events,
    metrics,
    nowMs,
    settings: {
      timeoutMs: settings.upstream.timeoutMs,
      answerBytesMax: settings.upstream.answerBytesMax,
      isDebug: settings.errors.debug,
      batchConcurrency: settings.batch.concurrency,
      answerBytesPerSecondMin: settings.http.answerBytesPerSecondMin,
    },
    readiness,
    admin: {
      token: settings.admin.token,
      adminFor: services.adminFor,
      // Of its own: bad client keys do not slow administrators down.
      slowdown: createSlowdown({ clock: nowMs }),
      clock,
      events,
      recordLogin: (login) => audit.noteLogin(login),
    },
  });

  return {
    server,
    store,
    keys,
    instances,
    audit,
    egress,
    keyRotation,
    databaseLimiters,
    logger: log,
    async listen() {
      const { host, port } = settings.http;
      try {
        await server.listen({ host, port, backlog: BACKLOG });
      } catch (error) {
        throw explainListenError(error, host, port);
      }
      keyRotation.start();
      const address = server.server.address();
      if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
      return formatAddress(address);
    },
    async stop() {
      await admission.stop(settings.http.shutdownGraceMs);
      // Clients that take no answer or never finish their request would keep the server open for ever.
      const timer = setTimeout(() => server.server.closeAllConnections(), LAST_BYTES_MS);
      await server.close();
      clearTimeout(timer);
      await idempotency.close();
      await replicas?.close();
      await services.close();
    },
  };
}

function createDatabaseLimiters(
  { upstream }: Settings,
  nowMs: () => number,
  others: Pick<DatabaseLimitersOptions, 'ownDelayMs' | 'processes' | 'peers'>,
): DatabaseLimiters {
  const max = upstream.concurrency;
  const min = Math.min(upstream.concurrencyMin, max);
  const initial = Math.min(Math.max(CONCURRENCY_AT_FIRST, min), max);
  return new DatabaseLimiters({
    concurrency: { initial, min, max },
    queueMax: upstream.queue,
    databasesMax: DATABASES_MAX,
    nowMs,
    ...others,
  });
}

function showUpstream({
  retryAfterSeconds,
  ...state
}: ReturnType<DatabaseLimiters['states']>[number]): UpstreamView {
  return { ...state, retry_after_seconds: retryAfterSeconds };
}

/** The audit's part in what can be observed. */
function auditEvents(audit: Services['audit']): Events {
  return {
    requestStarted() {},
    requestEnded() {},
    callRetried() {},
    callEnded: (record) => audit.recordCall(record),
    requestRefused: (record) => audit.recordRefusal(record),
    // The audit tells who did what: of these nobody has looked who they are.
    requestsShed() {},
    faultSeen() {},
  };
}

function explainListenError(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new StartError(
      `Port ${port} on ${host} is taken; end what uses it, or choose another with --http.port.`,
    );
  }
  if (code === 'EACCES')
    return new StartError(`Port ${port} may not be used by this user; choose one above 1023.`);
  if (code === 'EADDRNOTAVAIL')
    return new StartError(`${host} is not an address of this machine; see http.host.`);
  return error;
}

function formatAddress({ address, family, port }: { address: string; family: string; port: number }): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
