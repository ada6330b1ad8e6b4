/**
 * The sandbox that a person can start in the console after a first start. It listens on the loopback interface, and
 * ends with the process.
 */
import type { Sandbox } from '@erp-proxy/sandbox';
import type { SandboxServer } from '../admin/admin.ts';
import type { CommandInput } from './command.ts';

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
