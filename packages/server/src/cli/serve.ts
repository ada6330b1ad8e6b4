/**
 * `serve`: the proxy, until it is told to stop; in this process, or in several that share the port. Prints the first
 * client key once, where the store has none.
 */
import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { type App, type AppOptions, createApp } from '../app.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { runWorkers } from './workers.ts';
import { connectMetrics } from './workers-metrics.ts';

export const serveCommand: Command = {
  name: 'serve',
  arguments: [],
  summary: 'Run the proxy until SIGTERM or SIGINT; running calls then get their grace time.',
  options: {},
  async run(input) {
    const { workers: count, store, log } = input.settings;
    // Before anything else: who reads that we listen may stop us at once.
    const stopped = input.untilStopped();
    if (count === 1) return serve(input, stopped);
    if (cluster.isPrimary) {
      if (store.url === 'memory:') {
        throw new CommandError(
          `workers is ${count}, and store.url is memory:, which processes cannot share; set workers to 1, or store.url to sqlite:<path of a file> or postgres://….`,
        );
      }
      return runWorkers({ count, logger: createLogger(log.level), stopped });
    }
    try {
      return await serve(input, stopped, joinWorkers(log.level));
    } finally {
      // The channel to the primary would keep the process.
      cluster.worker?.disconnect();
    }
  },
};

async function serve(
  { settings, version, print }: CommandInput,
  stopped: Promise<void>,
  joined: Partial<AppOptions> = {},
): Promise<number> {
  // V8 lets 64 MiB of read buffers that nobody needs any more pile up before it looks at them: more than a long result
  // may add. The bound is derived from this flag (4 gives 16 MiB); the heap, which stands already, is not made smaller.
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=4');
  // What a start leaves behind can make V8 double the space for young objects, and each of its rounds of garbage is then
  // twice as large for as long as the process lives: the space stays as it is.
  setFlagsFromString('--semi-space-growth-factor=1');
  const app = await createApp({ settings, version, ...joined });
  const url = await app.listen().catch(async (error: unknown) => {
    // Connections to a store would keep the process.
    await app.stop();
    throw error;
  });
  const key = await makeFirstKey(app);
  if (key !== null) {
    print(`The first client key, shown this once. Send it in the header x-proxy-api:\n\n  ${key}\n\n`);
  }
  app.logger.info('listening', { url });
  await stopped;
  app.logger.info('stopping');
  await app.stop();
  app.logger.info('stopped');
  return 0;
}

/** Of several processes that find the store empty, one makes the key. */
async function makeFirstKey({ keys, store: { leases } }: App): Promise<string | null> {
  if (!(await keys.isEmpty())) return null;
  if (!(await leases.acquire('first key', `${hostname()} ${process.pid}`, FIRST_KEY_LEASE_MS))) return null;
  // Another one may have had the lease, and made the key, since we looked.
  if (!(await keys.isEmpty())) return null;
  return (await keys.create({ name: 'first key' })).key;
}

const FIRST_KEY_LEASE_MS = 10_000;

/** What a worker does otherwise than a process that is alone. */
function joinWorkers(logLevel: string): Pick<AppOptions, 'logger' | 'gatherMetrics'> {
  return {
    logger: addMembers(createLogger(logLevel), { worker: cluster.worker?.id }),
    gatherMetrics: (takeOwn) => connectMetrics(process, async () => [await takeOwn()]),
  };
}

function addMembers(logger: Logger, members: object): Logger {
  return {
    info: (message, more) => logger.info(message, { ...members, ...more }),
    warn: (message, more) => logger.warn(message, { ...members, ...more }),
    error: (message, more) => logger.error(message, { ...members, ...more }),
  };
}
