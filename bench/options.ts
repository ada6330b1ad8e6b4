/** Options of `npm run bench`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A smoke test of about a minute, with too few calls for meaningful figures. */
  isQuick: boolean;
  /** Name of the only scenario to run, or of the only case to compare; null runs all. */
  only: string | null;
  /** The other checkout, with which this checkout is compared. */
  compare: string | null;
}

/** The names that `--only` accepts. */
interface Names {
  scenarios: readonly string[];
  /** Names accepted together with `--compare`. */
  cases: readonly string[];
}

export function readOptions(argv: readonly string[], { scenarios, cases }: Names): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      compare: { type: 'string' },
    },
  });
  const compare = values.compare === undefined ? null : resolve(values.compare);
  if (compare !== null && !existsSync(join(compare, 'packages/server/bin/erp-proxy.mjs'))) {
    throw new Error(`--compare "${values.compare}" is no checkout of erp-proxy.`);
  }
  const [kind, names] = compare === null ? ['scenario', scenarios] : ['case', cases];
  const only = values.only ?? null;
  if (only !== null && !names.includes(only)) {
    throw new Error(`--only "${only}" is no ${kind}; there are ${names.join(', ')}.`);
  }
  return { isQuick: values.quick, only, compare };
}
