/** Describes the machine of a run. Has no host name and no paths. */
import { cpus, totalmem } from 'node:os';

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
