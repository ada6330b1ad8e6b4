/** The oldest month whose counts of calls are kept after `counts` are added: the same month of the year before. */
import type { CallCount } from './ports/call-counts.ts';

export function findOldestMonth(counts: readonly CallCount[]): string {
  const newest = counts.reduce((latest, { month }) => (month > latest ? month : latest), '');
  return newest === '' ? '' : `${Number(newest.slice(0, 4)) - 1}${newest.slice(4)}`;
}
