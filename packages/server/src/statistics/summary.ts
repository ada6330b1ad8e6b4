/** Sums up cells, and prints the sums. Pure. */
import type { CallStatistics } from '@erp-proxy/contract';
import { Durations } from './durations.ts';
import { type StoredCell, toCount } from './period.ts';

export interface Summary {
  add(cell: StoredCell): void;
  show(): CallStatistics;
}

/** Outcomes that are not errors. */
const GOOD: ReadonlySet<string> = new Set(['ok', 'replayed']);
/** Outcomes of requests for which the proxy had no capacity, or that exceeded a limit. */
const REFUSED = ['overloaded', 'rate_limited'];

export function createSummary(): Summary {
  const outcomes = new Map<string, number>();
  const proxyMs = new Durations();
  const odooMs = new Durations();
  let shared = 0;
  return {
    add(cell) {
      for (const outcome in cell.outcomes)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + toCount(cell.outcomes[outcome]));
      proxyMs.addPairs(cell.proxyMs);
      odooMs.addPairs(cell.odooMs);
      shared += cell.shared;
    },
    show() {
      const errors = [...outcomes].filter(([outcome]) => !GOOD.has(outcome));
      return {
        calls: sum(outcomes.values()),
        errors: Object.fromEntries(errors.sort(([, one], [, other]) => other - one)),
        refused: sum(REFUSED.map((outcome) => outcomes.get(outcome) ?? 0)),
        shared,
        replayed: outcomes.get('replayed') ?? 0,
        proxy_ms: proxyMs.quantiles(),
        odoo_ms: odooMs.quantiles(),
      };
    },
  };
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
