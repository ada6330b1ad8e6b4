/** Chooses the bounds of the adaptive concurrency limit of a database from the settings. */
import type { ConcurrencyBounds } from './adaptive-concurrency.ts';

/** Initial concurrency limit: what a small Odoo server can handle. */
const INITIAL = 8;

export function chooseConcurrencyBounds({
  concurrency: max,
  concurrencyMin,
}: {
  concurrency: number;
  concurrencyMin: number;
}): ConcurrencyBounds {
  const min = Math.min(concurrencyMin, max);
  return { initial: Math.min(Math.max(INITIAL, min), max), min, max };
}
