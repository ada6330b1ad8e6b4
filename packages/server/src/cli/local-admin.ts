/** The service of administration on the store of the settings, in the name of whoever runs the command. */
import { hostname, userInfo } from 'node:os';
import type { Admin } from '../admin/admin.ts';
import { createLogger } from '../observe/log.ts';
import { openServices } from '../services.ts';
import { CommandError, type CommandInput } from './command.ts';

export async function openLocalAdmin({
  settings,
  version,
  complain,
}: Pick<CommandInput, 'settings' | 'version' | 'complain'>): Promise<{
  admin: Admin;
  close(): Promise<void>;
}> {
  if (settings.store.url === 'memory:') {
    throw new CommandError(
      'store.url is memory:, which ends with this command; name the store of the proxy, or the proxy with --url.',
    );
  }
  const services = await openServices({
    settings,
    version,
    clock: Date.now,
    logger: createLogger('warn', { write: complain }),
    listUpstreams: () => [],
    isServing: false,
  });
  const name = `cli:${findUserName()}@${hostname()}`;
  return { admin: services.adminFor({ name, address: null, requestId: null }), close: services.close };
}

/** A container can run as a user that has no name. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
