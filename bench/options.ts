/** What the command line asks of the bench. */
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A smoke test of some 20 seconds: too few calls for figures that mean anything. */
  isQuick: boolean;
  /** The one scenario to run; null = all. */
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
