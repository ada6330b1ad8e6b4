/** Options of `npm run bench`. */
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A smoke test of about 20 seconds, with too few calls for meaningful figures. */
  isQuick: boolean;
  /** Name of the only scenario to run; null runs all. */
  only: string | null;
}

export function readOptions(argv: readonly string[], scenarios: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
  });
  const only = values.only ?? null;
  if (only !== null && !scenarios.includes(only)) {
    throw new Error(`--only "${only}" is no scenario; there are ${scenarios.join(', ')}.`);
  }
  return { isQuick: values.quick, only };
}
