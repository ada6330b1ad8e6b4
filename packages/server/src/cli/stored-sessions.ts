/**
 * The sessions that `login` has started, one for each proxy, in a file of the user that others cannot read.
 */
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { tryParse } from '@erp-proxy/contract';
import { z } from 'zod';
import type { Environment } from '../config/read-environment.ts';
import { readErrorCode } from '../config/read-error.ts';
import { CommandError } from './command.ts';
import { replaceFile } from './replace-file.ts';

const FILE = z.record(z.string(), z.string());

/** Methods reject with a CommandError if the file can be neither read nor written. */
export interface StoredSessions {
  /** The session for the proxy at this address; null if there is none. */
  find(proxy: URL): Promise<string | null>;
  save(proxy: URL, session: string): Promise<void>;
  remove(proxy: URL): Promise<void>;
}

export function createStoredSessions(env: Environment): StoredSessions {
  const path = locateFile(env);

  async function read(): Promise<Record<string, string>> {
    try {
      return FILE.safeParse(tryParse(await readFile(path, 'utf8'))).data ?? {};
    } catch (error) {
      if (readErrorCode(error) === 'ENOENT') return {};
      throw explainFailure('read', path, error);
    }
  }

  async function write(sessions: Record<string, string>): Promise<void> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replaceFile(path, `${JSON.stringify(sessions, null, 2)}\n`, 0o600);
      await chmod(path, 0o600);
    } catch (error) {
      throw explainFailure('written', path, error);
    }
  }

  return {
    find: async (proxy) => (await read())[nameProxy(proxy)] ?? null,
    save: async (proxy, session) => write({ ...(await read()), [nameProxy(proxy)]: session }),
    async remove(proxy) {
      const { [nameProxy(proxy)]: removed, ...others } = await read();
      if (removed !== undefined) await write(others);
    },
  };
}

function locateFile(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'] || (process.platform === 'win32' ? env['APPDATA'] : undefined);
  return join(folder || join(homedir(), '.config'), 'erp-proxy', 'sessions.json');
}

function nameProxy({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, '');
}

function explainFailure(done: string, path: string, error: unknown): CommandError {
  return new CommandError(`The file of sessions ${path} cannot be ${done} (${readErrorCode(error)}).`, 1);
}
