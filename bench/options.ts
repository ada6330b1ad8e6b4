/** Options of `npm run bench`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A smoke test of about 20 seconds, with too few calls for meaningful figures. */
  isQuick: boolean;
  /** Name of the only scenario to run; null runs all. */
  only: string | null;
  /** Another checkout of the repository, to compare this one with; null: the scenarios run. */
  compare: string | null;
}

export function readOptions(argv: readonly string[], scenarios: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      compare: { type: 'string' },
    },
  });
  const only = values.only ?? null;
  if (only !== null && !scenarios.includes(only)) {
    throw new Error(`--only "${only}" is no scenario; there are ${scenarios.join(', ')}.`);
  }
  const compare = values.compare === undefined ? null : resolve(values.compare);
  if (compare !== null && !existsSync(join(compare, 'packages/server/bin/erp-proxy.mjs'))) {
    throw new Error(`--compare "${values.compare}" is no checkout of erp-proxy; name its folder.`);
  }
  return { isQuick: values.quick, only, compare };
}
