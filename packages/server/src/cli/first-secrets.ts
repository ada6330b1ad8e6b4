/**
 * Creates the file of secrets at the first start on a terminal: the admin token and the master key, if neither the
 * operator nor the file sets them. Without a terminal nothing is created: such a start is usually that of a service,
 * whose secrets are set by its operator.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openStore } from '@erp-proxy/stores';
import { removeLeftDrafts } from '../config/drafts.ts';
import { readErrorCode } from '../config/read-error.ts';
import type { Settings } from '../config/schema.ts';
import { createSecretsFile, type FileSecrets } from '../config/secrets-file.ts';
import type { CommandInput } from './command.ts';

type Input = Pick<
  CommandInput,
  'settings' | 'secretsFile' | 'reloadSettings' | 'isTerminal' | 'print' | 'complain'
>;

/** Resolves to the input, with settings that contain the created secrets. */
export async function createFirstSecrets<Given extends Input>(input: Given): Promise<Given> {
  const { settings, secretsFile, isTerminal } = input;
  if (secretsFile === null) return input;
  // A leftover draft may contain the same secrets, and would outlive the file.
  removeLeftDrafts(secretsFile);
  if (!isTerminal) return input;
  if (settings.admin.token !== null && settings.vault.masterKey !== null) return input;
  if (!existsSync(secretsFile)) await createFile(secretsFile, input);
  // Reloaded in any case: another process may have created the file since the settings were loaded.
  return { ...input, settings: input.reloadSettings() };
}

async function createFile(path: string, { settings, print, complain }: Input): Promise<void> {
  const hasSealed = await hasSealedInstances(settings.store.url);
  const secrets: FileSecrets = {
    ...(settings.admin.token === null && { 'admin.token': randomBytes(32).toString('base64url') }),
    // No new master key if stored Odoo keys are sealed with an earlier one, which the operator must set.
    ...(settings.vault.masterKey === null &&
      !hasSealed && { 'vault.masterKey': randomBytes(32).toString('base64') }),
  };
  const names = Object.keys(secrets).join(' and ');
  if (names === '') return;
  try {
    if (!createSecretsFile(path, secrets)) return;
    print(`Created ${path}, which only you can read, with random values for ${names}.\n`);
    print('Back it up as well: a restored proxy needs it.\n\n');
  } catch (error) {
    complain(
      `${path} could not be created (${readErrorCode(error) ?? 'unknown error'}): the proxy starts without ${names}. Set them by environment, or remove the cause and start again.\n`,
    );
  }
}

/**
 * True if stored Odoo keys are sealed with a master key. Creates the store, and so the folder of the file, if it is
 * missing.
 */
async function hasSealedInstances(storeUrl: string): Promise<boolean> {
  const store = await openStore(storeUrl);
  try {
    return (await store.instances.countByMasterKey()).size > 0;
  } finally {
    await store.close();
  }
}

/** Names the secrets without which commands and the console will fail, for the log of a start. */
interface MissingSecrets {
  missing: readonly string[];
  advice: string;
}

const USES = {
  'admin.token':
    'admin.token, which the console, the admin API and commands with --url need (ERP_PROXY_ADMIN_TOKEN_FILE)',
  'vault.masterKey':
    'vault.masterKey, which stored instances need (ERP_PROXY_VAULT_MASTER_KEY_FILE; erp-proxy vault key makes one)',
};

/** Null if no secret is missing. */
export function findMissingSecrets({
  admin,
  vault,
}: Pick<Settings, 'admin' | 'vault'>): MissingSecrets | null {
  const missing = [
    ...(admin.token === null ? (['admin.token'] as const) : []),
    ...(vault.masterKey === null ? (['vault.masterKey'] as const) : []),
  ];
  if (missing.length === 0) return null;
  const uses = missing.map((name) => USES[name]).join(', and ');
  return {
    missing,
    advice: `Set ${uses}, for the proxy and its commands. A start on a terminal creates them.`,
  };
}
