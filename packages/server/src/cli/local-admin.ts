/** The admin service for the store of the settings. Its actor is the user who runs the command. */
import { hostname, userInfo } from 'node:os';
import type { Admin } from '../admin/admin.ts';
import { openServices } from '../app/services.ts';
import { createLogger } from '../observe/log.ts';
import { lookForStore } from '../stores/open.ts';
import { CommandError, type CommandInput } from './command.ts';

/** What a command does if the store is missing: create one, treat it as empty, or refuse. */
export type WithoutStore = 'create' | 'plan' | 'refuse';

export async function openLocalAdmin(
  { settings, version, complain }: Pick<CommandInput, 'settings' | 'version' | 'complain'>,
  withoutStore: WithoutStore,
): Promise<{
  admin: Admin;
  close(): Promise<void>;
}> {
  if (settings.store.url === 'memory:') {
    throw new CommandError(
      'store.url is memory:, which ends with this command; name the store of the proxy, or the proxy with --url.',
    );
  }
  const found = await lookForStore(settings.store.url);
  const isMissing = !found.exists && withoutStore !== 'create';
  if (isMissing && withoutStore === 'refuse') throw explainMissing(found.label);
  complain(
    isMissing ? `There is no store ${found.label} yet: it counts as empty.\n` : `Store: ${found.label}\n`,
  );
  const services = await openServices({
    settings: isMissing ? { ...settings, store: { ...settings.store, url: 'memory:' } } : settings,
    version,
    clock: Date.now,
    logger: createLogger('warn', { add: (print) => complain(print()) }),
    listUpstreams: () => [],
    isServing: false,
  });
  const name = `cli:${findUserName()}@${hostname()}`;
  return { admin: services.adminFor({ name, address: null, requestId: null }), close: services.close };
}

function explainMissing(label: string): CommandError {
  const message = `There is no store ${label} yet. Where the proxy has another one, name it with --store.url, or run the command in the folder of the proxy; a start of the proxy and "erp-proxy keys create" make one.`;
  return new CommandError(message, 1);
}

/** Name of the user; a container can run as a user without one. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
