/** `serve`: runs the proxy until it is stopped, in this process or in several that share the port. */
import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { PROXY_ACTOR } from '@erp-proxy/control/audit';
import { createLogger, type Logger } from '@erp-proxy/observe/log';
import type { App, AppOptions } from '../app/app.ts';
import { listSecretFiles } from '../config/secret-files.ts';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { createFirstSecrets, findMissingSecrets } from './first-secrets.ts';
import { findMemoryShortage, setV8Flags } from './memory-limit.ts';
import { createSandboxOnDemand } from './sandbox.ts';
import { chooseBaseUrl, describeLink, makeSignInLink } from './sign-in-link.ts';
import { answerHeartbeats } from './workers-heartbeat.ts';
import { reportTaken } from './workers-settings.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary:
    'Run the proxy until SIGTERM, SIGINT or SIGHUP. Running calls then have http.shutdownGraceMs to finish.',
  options: {},
  async run(given) {
    // Before all else: a supervisor that sees the proxy listen may stop it at once.
    const stopped = given.untilStopped();
    // A worker gets the settings of its primary, which include the first secrets.
    const input = cluster.isPrimary ? await createFirstSecrets(given) : given;
    const { workers: count, store, log } = input.settings;
    if (count === 1) return serve(input, stopped);
    if (cluster.isPrimary) {
      if (store.url === 'memory:') {
        throw new CommandError(
          `workers is ${count}, and store.url is memory:, which processes cannot share; set workers to 1, or store.url to sqlite:<path of a file> or postgres://….`,
        );
      }
      // Loaded here, like the server below, so that other commands start faster.
      const { runWorkers } = await import('./workers.ts');
      const { settings, sources, secretsFile, isTerminal } = input;
      const given = { settings, sources, secretsFile };
      return runWorkers({ count, given, logger: createLogger(log.level), stopped, isTerminal });
    }
    answerHeartbeats(process);
    try {
      return await serve(input, stopped, await joinWorkers(log.level));
    } finally {
      // An open channel to the primary would keep the process running.
      cluster.worker?.disconnect();
    }
  },
};

async function serve(
  input: CommandInput,
  stopped: Promise<void>,
  joined: Partial<AppOptions> = {},
): Promise<number> {
  const { settings, version, print, isTerminal, env, cwd } = input;
  setV8Flags();
  const { createApp } = await import('../app/app.ts');
  const sandbox = createSandboxOnDemand(input);
  const app = await createApp({
    settings,
    version,
    startSandbox: sandbox?.start ?? null,
    secretFiles: listSecretFiles(input, env, cwd),
    ...joined,
  });
  const url = await app.listen().catch(async (error: unknown) => {
    // Open connections to a store would keep the process running.
    await app.stop();
    throw error;
  });
  const isSpeaker = (cluster.worker?.id ?? 1) === 1;
  const isFirstStart = await introduceFirstKey(app, { print, isTerminal, isSpeaker });
  if (isTerminal && settings.console.enabled) {
    const base = chooseBaseUrl(settings, url);
    if (isFirstStart && settings.admin.token !== null) {
      print(`${describeLink(makeSignInLink(settings.admin.token, base).url)}\n`);
    } else if (isSpeaker) {
      print(`Console: ${base} (for a link that signs you in: erp-proxy console)\n\n`);
    }
  }
  const shortage = isSpeaker ? findMemoryShortage(process.constrainedMemory(), settings) : null;
  if (shortage !== null) app.logger.warn('memory limit is small', { ...shortage });
  const missing = isSpeaker ? findMissingSecrets(settings) : null;
  if (missing !== null) app.logger.info('secrets are not set', { ...missing });
  app.logger.info('listening', { url, store: app.store.label });
  await stopped;
  app.logger.info('stopping');
  const lostBefore = app.audit.lost;
  await app.stop();
  await sandbox?.close();
  const lost = app.audit.lost - lostBefore;
  if (lost > 0) {
    app.logger.error('stopped, and records of the audit are lost', { records: lost });
    return 1;
  }
  app.logger.info('stopped');
  return 0;
}

/** The options of a worker that differ from those of a single process. */
async function joinWorkers(
  logLevel: string,
): Promise<Pick<AppOptions, 'logger' | 'gatherMetrics' | 'onSecretTaken'>> {
  const { connectPrimary } = await import('./workers-metrics.ts');
  return {
    logger: addMembers(createLogger(logLevel), { worker: cluster.worker?.id }),
    gatherMetrics: (takeOwn) => connectPrimary(process, takeOwn),
    onSecretTaken: (name, settings) => reportTaken(process, name, settings),
  };
}

function addMembers(logger: Logger, members: object): Logger {
  const addTo = (fields: object | (() => object) = {}) =>
    typeof fields === 'function' ? () => ({ ...members, ...fields() }) : { ...members, ...fields };
  return {
    info: (message, fields) => logger.info(message, addTo(fields)),
    warn: (message, fields) => logger.warn(message, addTo(fields)),
    error: (message, fields) => logger.error(message, addTo(fields)),
  };
}

export interface FirstKeyOptions {
  print: (text: string) => unknown;
  /** True if the output goes to a terminal. */
  isTerminal: boolean;
  /** True in the one process, of several workers, that prints such messages. */
  isSpeaker: boolean;
}

/**
 * Creates the first client key if the store has none, and prints it on a terminal. Without a terminal, output is
 * usually logged and visible to others, so no key is created, and the log says how to create one. Resolves to true if
 * a key was created.
 */
async function introduceFirstKey(
  app: App,
  { print, isTerminal, isSpeaker }: FirstKeyOptions,
): Promise<boolean> {
  if (!(await app.keys.isEmpty())) return false;
  if (!isTerminal) {
    if (isSpeaker) app.logger.warn('no client key', { advice: adviseNewKey(app.store.label) });
    return false;
  }
  const key = await makeFirstKey(app);
  if (key === null) return false;
  print(`The first client key, shown this once. Send it in the header x-proxy-api:\n\n  ${key}\n\n`);
  return true;
}

const LEASE_MS = 10_000;

/** Creates the first key. If several processes find the store empty, only one creates it. */
async function makeFirstKey({ keys, store: { leases } }: App): Promise<string | null> {
  if (!(await leases.acquire('first key', `${hostname()} ${process.pid}`, LEASE_MS))) return null;
  // Another process may have held the lease and created the key since the first check.
  if (!(await keys.isEmpty())) return null;
  return (await keys.create({ name: 'first key', createdBy: JSON.stringify(PROXY_ACTOR) })).key;
}

function adviseNewKey(store: string): string {
  if (store === 'memory') return 'Keys are in memory: make one with POST /admin/v1/keys (admin.token).';
  // Names the store's file: in another folder, without the settings of a service, the command would create a store of
  // its own.
  const file = /^sqlite (.+)$/.exec(store)?.[1];
  const where = file === undefined ? 'where the store is reached' : `with \`--store.url sqlite:${file}\``;
  return `Make one with \`erp-proxy keys create --name <who will use it>\` ${where}; in a container: \`docker exec <container> erp-proxy keys create --name <who will use it>\`.`;
}
