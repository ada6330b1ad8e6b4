/** `sandbox`: runs a simulated Odoo server until it is stopped. */

import type { SandboxServer } from '@erp-proxy/admin';
import type { Sandbox, Version } from '@erp-proxy/sandbox';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printJson } from './command.ts';

const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19, 22];

export const sandboxCommand: Command = {
  name: 'sandbox',
  summary: 'Run a simulated Odoo server with the data of a small company.',
  options: {
    version: { value: '14|15|16|17|18|19|22', description: 'Odoo version to simulate. Default: 18.' },
    port: { value: 'port', description: 'TCP port. Default: 8069, the port of Odoo.' },
    json: JSON_OPTION,
  },
  async run(input) {
    const version = VERSIONS.find((known) => String(known) === (input.option('version') ?? '18'));
    if (version === undefined) throw new CommandError(`--version is one of ${VERSIONS.join(', ')}.`);
    const port = Number(input.option('port') ?? 8069);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CommandError('--port is 0 to 65535.');
    const stopped = input.untilStopped();
    // Loaded here, so that other commands start faster.
    const { startSandbox } = await import('@erp-proxy/sandbox');
    const sandbox = await startSandbox({ version, port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        throw new CommandError(`Port ${port} is taken; choose another with --port.`);
      }
      if (error.code !== 'EACCES') throw error;
      throw new CommandError(`Port ${port} may not be used by this user; choose one above 1023 with --port.`);
    });
    const { url, db, users } = sandbox;
    if (input.isSet('json')) {
      printJson(input, { url, version, db, users });
    } else {
      input.print(`Odoo ${version} sandbox on ${url}\n  db       ${db}\n`);
      for (const [name, { userId, apiKey }] of Object.entries(users)) {
        input.print(`  ${name.padEnd(8)} user_id ${userId}, api_key ${apiKey}\n`);
      }
      input.print('The proxy reaches it only if egress.allow names it: ');
      input.print(`npx erp-proxy serve --egress.allow ${url}\n`);
    }
    await stopped;
    await sandbox.close();
    return 0;
  },
};

/**
 * The sandbox that a person can start in the console after a first start. It listens on the loopback interface, and
 * ends with the process.
 */
export interface SandboxOnDemand {
  /** Starts the sandbox at the first call. Later calls return the same one. */
  start(): Promise<SandboxServer>;
  close(): Promise<void>;
}

type Input = Pick<CommandInput, 'settings' | 'sources' | 'secretsFile' | 'isTerminal'>;

/**
 * Null unless this is a first start: on a terminal, in one process, with secrets that the proxy has created itself. An
 * operator who has set secrets has an Odoo server.
 */
export function createSandboxOnDemand(input: Input): SandboxOnDemand | null {
  if (!input.isTerminal || input.settings.workers !== 1 || !hasOwnSecrets(input)) return null;
  let started: Promise<Sandbox> | null = null;
  return {
    async start() {
      started ??= open().catch((error: unknown) => {
        started = null;
        throw error;
      });
      const { url, db, users } = await started;
      return { url, db, userId: users.admin.userId, apiKey: users.admin.apiKey };
    },
    async close() {
      // The caller of `start` has got the error of a failed start.
      const sandbox = await started?.catch(() => null);
      await sandbox?.close();
    },
  };
}

function hasOwnSecrets({ sources, secretsFile }: Input): boolean {
  if (secretsFile === null) return false;
  // The source `default` is included: secrets that this start has created did not exist when the settings were loaded.
  const isOwn = (source = 'default') => source === 'default' || source.startsWith(secretsFile);
  return isOwn(sources.get('admin.token')) && isOwn(sources.get('vault.masterKey'));
}

/**
 * Uses the port of `erp-proxy sandbox` if it is free, so that this command brings the instance back after a restart.
 */
async function open(): Promise<Sandbox> {
  // Loaded here, because most processes never need it.
  const { startSandbox } = await import('@erp-proxy/sandbox');
  return startSandbox({ version: 18, port: PORT }).catch(() => startSandbox({ version: 18 }));
}

const PORT = 8069;
