/** Names the secrets without which commands and the console will fail, for the log of a start. */
import type { Settings } from '../config/schema.ts';

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
