/** For tests: runs a command in this process, as if it were started in a folder. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Surroundings } from '../../src/cli/command.ts';
import { replaceFile } from '../../src/cli/replace-file.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { readTextFile } from '../../src/config/read-text-file.ts';
import { readSecretsFile } from '../../src/config/secrets-file.ts';

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  folder: string;
  env?: Record<string, string>;
  /** Standard input. */
  input?: string | null;
  /** Asks a question; by default, nobody can be asked. */
  ask?: Surroundings['ask'];
  /** Called with the standard error while the command runs. */
  onComplaint?: (text: string) => void;
}

/** Runs a command whose store is a SQLite file in the folder. */
export async function runCommand(
  args: readonly string[],
  { folder, env = {}, input = null, ask = null, onComplaint = () => {} }: RunOptions,
): Promise<Ran> {
  const surroundings = recordSurroundings({
    ask,
    readInput: async (path) =>
      path === '-' && input !== null ? Buffer.from(input) : readFile(resolve(folder, path)),
    writeFile: (path, text) => replaceFile(resolve(folder, path), text),
  });
  const { complain } = surroundings;
  const status = await runCommandLine(
    {
      argv: args,
      env: { ERP_PROXY_STORE_URL: `sqlite:${join(folder, 'proxy.db')}`, ...env },
      cwd: folder,
      readFile: readTextFile,
      readSecrets: readSecretsFile,
      version: '1.2.3',
    },
    {
      ...surroundings,
      complain(text) {
        complain(text);
        onComplaint(text);
      },
    },
  );
  const { stdout, stderr } = surroundings;
  return { status, stdout, stderr };
}
