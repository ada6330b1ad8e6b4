/**
 * The composition root: builds the proxy from its settings and is the one file that knows every part. Nothing here
 * decides anything about a call.
 */
import { maskValue } from './config/mask.ts';
import type { Settings } from './config/schema.ts';
import { createEgressDispatcher, type EgressDispatcher } from './egress/dispatcher.ts';
import { parseEgressPolicy } from './egress/policy.ts';
import { Admission } from './execute/admit.ts';
import { createCredentialMemory } from './execute/credential-memory.ts';
import { Servers } from './execute/servers.ts';
import type { Protocol, TranslateDeps } from './execute/translate.ts';
import { createServer } from './http/server.ts';
import { createKeys, type Keys } from './keys/keys.ts';
import { createSlowdown } from './keys/slowdown.ts';
import { combineEvents } from './observe/events.ts';
import { createLogger, describeError, type Logger, logEvents } from './observe/log.ts';
import { createMetrics } from './observe/metrics.ts';
import { classifyAction } from './odoo/methods.ts';
import { openStore } from './stores/open.ts';
import type { Store } from './stores/ports.ts';

/** A fault of the settings or the surroundings that an operator must mend; its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface AppOptions {
  settings: Settings;
  /** Milliseconds since 1970; tests set their own. */
  clock?: () => number;
  /** A clock that never goes back, in milliseconds; tests set their own. */
  nowMs?: () => number;
  /** In place of the one that writes to standard output. */
  logger?: Logger;
}

export interface App {
  server: ReturnType<typeof createServer>;
  store: Store;
  keys: Keys;
  egress: EgressDispatcher;
  logger: Logger;
  /** Starts to listen; resolves to the base address. */
  listen(): Promise<string>;
  /** Stops gracefully: new calls get 503, running ones end within the grace time, then everything is closed. */
  stop(): Promise<void>;
}

/** Connections that may wait to be taken: with Node's 511, each one of a burst beyond waits a second to try again. */
const BACKLOG = 4096;
/** Time for the last answers to leave, once every call has ended. */
const LAST_BYTES_MS = 1000;

export async function createApp({
  settings,
  clock = Date.now,
  nowMs = () => performance.now(),
  logger,
}: AppOptions): Promise<App> {
  const log = logger ?? createLogger(settings.log.level);
  const egress = openEgress(settings);
  const store = await openStore(settings.store.url);
  const keys = await createKeys({
    store,
    clock,
    hashSecret: settings.keys.hashSecret ?? undefined,
    onError: (error) => log.error('key store', { err: describeError(error) }),
  });
  const metrics = createMetrics(classifyAction);
  const admission = new Admission();
  const server = createServer({
    http: settings.http,
    keys,
    slowdown: createSlowdown({ clock: nowMs }),
    admission,
    egress,
    credentials: createCredentialMemory(settings.upstream.refusedCredentialsTtlMs, nowMs),
    servers: new Servers({
      egress,
      nowMs,
      timeoutMs: settings.upstream.timeoutMs,
      bytesMax: settings.upstream.answerBytesMax,
    }),
    protocolFor: readProtocols(settings),
    events: combineEvents(logEvents(log), metrics),
    metrics,
    nowMs,
    settings: {
      timeoutMs: settings.upstream.timeoutMs,
      answerBytesMax: settings.upstream.answerBytesMax,
      isDebug: settings.errors.debug,
      batchConcurrency: settings.batch.concurrency,
    },
    readiness: async () => ({
      traffic: admission.isStopping ? 'shutting down' : null,
      store: await probeStore(store),
    }),
  });

  return {
    server,
    store,
    keys,
    egress,
    logger: log,
    async listen() {
      const { host, port } = settings.http;
      try {
        await server.listen({ host, port, backlog: BACKLOG });
      } catch (error) {
        throw explainListenError(error, host, port);
      }
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
      await egress.close();
      await keys.close();
      await store.close();
    },
  };
}

function openEgress(settings: Settings): EgressDispatcher {
  const { policy, faults } = parseEgressPolicy(settings.egress.allow);
  if (faults.length > 0) throw new StartError(explainPolicyFaults(faults).join('\n'));
  return createEgressDispatcher({
    allow: policy,
    connectTimeoutMs: settings.upstream.connectTimeoutMs,
    firstByteTimeoutMs: settings.upstream.firstByteTimeoutMs,
  });
}

/** Faults of `egress.allow`, for the operator; a password in an entry is not shown. */
export function explainPolicyFaults(faults: ReturnType<typeof parseEgressPolicy>['faults']): string[] {
  return faults.map(
    ({ entry, message }) => `egress.allow: "${maskValue('egress.allow', entry)}": ${message}`,
  );
}

/** The operator's choice of protocol, by the server's origin. */
function readProtocols({ upstream }: Settings): TranslateDeps['protocolFor'] {
  const byOrigin = new Map(
    upstream.protocolFor.map((entry) => {
      const [origin = '', protocol] = entry.split('=');
      return [new URL(origin).origin, protocol as Protocol];
    }),
  );
  const otherwise = upstream.protocol as 'auto' | Protocol;
  return ({ origin }) => byOrigin.get(origin) ?? otherwise;
}

async function probeStore(store: Store): Promise<string | null> {
  try {
    await store.keys.isEmpty();
    return null;
  } catch {
    return 'the store does not answer; see the log';
  }
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
