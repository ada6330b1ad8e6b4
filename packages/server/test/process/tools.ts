/**
 * Installs programs of other projects, which are no dependencies of this project, into a temporary folder. A folder of
 * `scripts/` names them with a lock file. Needs the npm registry, or a cache that has them.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';

const scripts = fileURLToPath(new URL('../../../../scripts/', import.meta.url));

export interface Tools {
  /** The temporary folder. */
  folder: string;
  /** Runs the Node of the tests. Resolves to the standard output. Rejects with all output if the status is not 0. */
  node(...args: string[]): Promise<string>;
}

/** Installs before the tests of the file and removes after them. `name`: the folder below `scripts/`. */
export function installTools(name: string, timeoutMs: number): Tools {
  const folder = mkdtempSync(join(tmpdir(), `erp-proxy-${name}-`));
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
  // The compile cache must not keep code of a folder that is removed.
  const env = { ...inherited, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
  const run = async (command: string, ...args: string[]) => {
    try {
      return (await promisify(execFile)(command, args, { cwd: folder, env })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
    }
  };
  beforeAll(async () => {
    const filter = (path: string) => !path.includes('node_modules');
    cpSync(join(scripts, name), folder, { recursive: true, filter });
    await run('npm', 'ci', '--prefer-offline', '--ignore-scripts', '--no-audit');
  }, timeoutMs);
  afterAll(() => rmSync(folder, { recursive: true }));
  return { folder, node: (...args) => run(process.execPath, ...args) };
}
