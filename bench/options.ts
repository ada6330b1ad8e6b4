/** Options of `npm run bench`. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A smoke test of about a minute, with too few calls for meaningful figures. */
  isQuick: boolean;
  /** Name of the only scenario to run, or of the only case to compare with a checkout; null runs all. */
  only: string | null;
  /** What to compare this checkout with: another checkout, or a file with the figures of a run. */
  compare: { kind: 'checkout' | 'file'; path: string } | null;
  /** File in which to save the figures of the run. */
  save: string | null;
  /** File for the page instead of docs/benchmarks.md, which only a full run writes. */
  page: string | null;
}

/** The names that `--only` accepts. */
interface Names {
  scenarios: readonly string[];
  /** Together with `--compare <checkout>`. */
  cases: readonly string[];
}

export function readOptions(argv: readonly string[], { scenarios, cases }: Names): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      compare: { type: 'string' },
      save: { type: 'string' },
      page: { type: 'string' },
    },
  });
  const compare = values.compare === undefined ? null : locateOther(values.compare);
  const isPaired = compare?.kind === 'checkout';
  const names = isPaired ? cases : scenarios;
  const only = values.only ?? null;
  if (only !== null && !names.includes(only)) {
    throw new Error(
      `--only "${only}" is no ${isPaired ? 'case' : 'scenario'}; there are ${names.join(', ')}.`,
    );
  }
  if (isPaired && (values.save !== undefined || values.page !== undefined)) {
    throw new Error('--save and --page need the scenarios, which do not run with --compare <checkout>.');
  }
  return {
    isQuick: values.quick,
    only,
    compare,
    save: values.save === undefined ? null : resolve(values.save),
    page: values.page === undefined ? null : resolve(values.page),
  };
}

function locateOther(name: string): BenchOptions['compare'] {
  const path = resolve(name);
  if (existsSync(join(path, 'packages/server/bin/erp-proxy.mjs'))) return { kind: 'checkout', path };
  if (existsSync(path) && statSync(path).isFile()) return { kind: 'file', path };
  throw new Error(`--compare "${name}" is neither a checkout of erp-proxy nor a file that --save wrote.`);
}
