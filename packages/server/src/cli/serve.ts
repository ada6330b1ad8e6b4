/** `serve`: runs the proxy until it is stopped, in this process or in several that share the port. */
import cluster from 'node:cluster';
import type { AppOptions } from '../app/app.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { introduceFirstKey } from './first-key.ts';
import { createFirstSecrets } from './first-secrets.ts';
import { findMemoryShortage } from './memory-limit.ts';
import { findMissingSecrets } from './missing-secrets.ts';
import { createSandboxOnDemand } from './sandbox-on-demand.ts';
import { chooseBaseUrl, describeLink, makeSignInLink } from './sign-in-link.ts';
import { setV8Flags } from './v8-flags.ts';
import { answerHeartbeats } from './workers-heartbeat.ts';

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
  const { settings, version, print, isTerminal } = input;
  setV8Flags();
  const { createApp } = await import('../app/app.ts');
  const sandbox = createSandboxOnDemand(input);
  const app = await createApp({ settings, version, startSandbox: sandbox?.start ?? null, ...joined });
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
async function joinWorkers(logLevel: string): Promise<Pick<AppOptions, 'logger' | 'gatherMetrics'>> {
  const { connectPrimary } = await import('./workers-metrics.ts');
  return {
    logger: addMembers(createLogger(logLevel), { worker: cluster.worker?.id }),
    gatherMetrics: (takeOwn) => connectPrimary(process, takeOwn),
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
