/** Describes the machine and the code of a run. Has no host name and no paths. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { OWN_CHECKOUT } from './program.ts';

export interface Machine {
  machine: string;
  node: string;
}

export function describeMachine(): Machine {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return {
    machine: `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), ${gibibytes} GiB, ${process.platform}`,
    node: process.versions.node,
  };
}

/** The commit of this checkout, with `-dirty` if files were changed since. */
export function describeCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: OWN_CHECKOUT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
