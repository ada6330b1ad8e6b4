/**
 * Statistics of calls: by minute for a day, and by hour for 30 days. Each process counts its own calls (recorder.ts). A
 * query sums up the rows of all processes.
 */
import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type {
  CallStatistics,
  StatisticsDimension,
  StatisticsFilters,
  StatisticsView,
} from '@erp-proxy/contract';
import type { EventHandlers } from '@erp-proxy/observe/events';
import type { LeaseStore, StatisticsRow, StatisticsStore } from '@erp-proxy/stores/ports';
import { type Dimension, Durations } from './cells.ts';
import { type Gauges, readPeriod, STEPS, type Step, type StoredCell, toCount } from './period.ts';
import { createRecorder } from './recorder.ts';

export interface StatisticsOptions {
  store: StatisticsStore;
  leases: Pick<LeaseStore, 'acquire'>;
  /** A name that no other process has. */
  process: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Returns the number of calls that wait for Odoo databases now. */
  countQueued: () => number;
  onError: (error: unknown) => void;
}

/** A query with parsed times. */
export interface StatisticsRange extends Omit<StatisticsFilters, 'since' | 'until'> {
  /** Milliseconds since 1970; `until` is excluded. */
  since?: number | undefined;
  until?: number | undefined;
}

/** Selects the calls that somebody may see, by the name of their instance or the address of their server. */
export type IsVisible = (instance: string | null) => boolean;

/** A method that a client has called and Odoo has answered. */
export interface CalledMethod {
  client: string;
  model: string;
  method: string;
}

export interface Statistics {
  events: EventHandlers;
  /** With `isVisible`, only these calls count, and what is counted for all calls together is null. */
  query(range: StatisticsRange, isVisible?: IsVisible): Promise<StatisticsView>;
  /**
   * Lists the methods called since this time, in milliseconds since 1970. Each combination of client, model and method
   * appears once.
   */
  listCalled(since: number, isVisible?: IsVisible): Promise<CalledMethod[]>;
  /** Starts the periodic removal of old periods. */
  start(): void;
  /** Writes the counts of this process to the store. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS: Record<Step, number> = { minute: DAY_MS, hour: 30 * DAY_MS };
/** Longest range that is shown by minute. */
const MINUTES_RANGE_MS = 6 * HOUR_MS;
const PAGE_ROWS = 50;
const PRUNE_INTERVAL_MS = 10 * 60_000;
const PRUNE_ROWS = 500;
const GROUPS_DEFAULT = 20;

/** The names in a cell for the names in the contract. */
const DIMENSIONS: Record<StatisticsDimension, Dimension> = {
  instance: 'instance',
  key: 'client',
  model: 'model',
  action: 'action',
};

/** The calls of one process in one period. */
interface StoredPeriod {
  startsAt: number;
  most: Gauges;
  cells: StoredCell[];
}

export function createStatistics(options: StatisticsOptions): Statistics {
  const { store, leases, process, clock, onError } = options;
  const recorder = createRecorder(options);
  let task: PeriodicTask | null = null;

  /** Reads rows in pages, between which the event loop is free. */
  async function* readPeriods(step: Step, since: number, until: number): AsyncGenerator<StoredPeriod> {
    let after: Pick<StatisticsRow, 'startsAt' | 'process'> | null = null;
    for (;;) {
      const rows: StatisticsRow[] = await store.list({ step, since, until, after, limit: PAGE_ROWS });
      for (const row of rows) {
        yield { startsAt: row.startsAt - (row.startsAt % STEPS[step]), ...readPeriod(row.body) };
        await new Promise(setImmediate);
      }
      after = rows.at(-1) ?? null;
      if (after === null || rows.length < PAGE_ROWS) return;
    }
  }

  async function prune(): Promise<void> {
    if (!(await leases.acquire('statistics', process, PRUNE_INTERVAL_MS))) return;
    for (const [step, keptMs] of Object.entries(KEPT_MS) as [Step, number][]) {
      let removed: number;
      do {
        removed = await store.prune(step, clock() - keptMs, PRUNE_ROWS);
      } while (removed === PRUNE_ROWS);
    }
  }

  return {
    events: recorder.events,
    flush: recorder.flush,
    async query(
      { since, until = clock() + 1, step: asked, by, limit = GROUPS_DEFAULT, ...filters },
      isVisible,
    ) {
      const start = since ?? until - HOUR_MS;
      const step = asked ?? (until - start <= MINUTES_RANGE_MS ? 'minute' : 'hour');
      // Counts that cannot be written now are not lost, and stored ones can be shown.
      await recorder.flush().catch(() => {});
      const from = start - (start % STEPS[step]);
      const total = createSummary();
      const periods = new Map<number, { summary: Summary; most: Gauges }>();
      const groups = new Map<string | null, Summary>();
      for await (const period of readPeriods(step, from, until)) {
        const cells = isVisible ? period.cells.filter(({ instance }) => isVisible(instance)) : period.cells;
        if (isVisible && cells.length === 0) continue;
        const shown = periods.get(period.startsAt) ?? { summary: createSummary(), most: createGauges() };
        periods.set(period.startsAt, shown);
        addMost(shown.most, period.most);
        for (const cell of pickCells(cells, filters)) {
          total.add(cell);
          shown.summary.add(cell);
          if (by !== undefined) findGroup(groups, cell[DIMENSIONS[by]]).add(cell);
        }
      }
      return {
        since: new Date(from).toISOString(),
        until: new Date(until).toISOString(),
        step,
        total: total.show(),
        periods: Array.from(periods, ([startsAt, { summary, most }]) => ({
          at: new Date(startsAt).toISOString(),
          ...summary.show(),
          in_flight_max: isVisible ? null : most.inFlight,
          queued_max: isVisible ? null : most.queued,
        })),
        groups: listGroups(groups, limit),
        now: isVisible ? null : { in_flight: recorder.gauges.inFlight, queued: recorder.gauges.queued },
      };
    },
    async listCalled(since, isVisible = () => true) {
      await recorder.flush().catch(() => {});
      const called = new Map<string, CalledMethod>();
      for await (const { cells } of readPeriods('hour', since - (since % STEPS.hour), clock() + 1)) {
        for (const { instance, client, model, action } of cells) {
          if (!isVisible(instance)) continue;
          if (client === null || model === null || action === null) continue;
          called.set(JSON.stringify([client, model, action]), { client, model, method: action });
        }
      }
      return [...called.values()];
    },
    start() {
      task = startPeriodicTask(prune, { intervalMs: PRUNE_INTERVAL_MS, onError });
      task.run();
    },
    async close() {
      await task?.close();
      await recorder.close().catch(() => {});
    },
  };
}

/** Adds the peaks of two processes in one period. They may be from different moments, so the sum is an upper bound. */
function addMost(sum: Gauges, { inFlight, queued }: Gauges): void {
  sum.inFlight += inFlight;
  sum.queued += queued;
}

function createGauges(): Gauges {
  return { inFlight: 0, queued: 0 };
}

function* pickCells(
  cells: readonly StoredCell[],
  filters: Partial<Record<StatisticsDimension, string | undefined>>,
): Generator<StoredCell> {
  const wanted = (Object.keys(DIMENSIONS) as StatisticsDimension[]).flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [{ dimension: DIMENSIONS[name], value }];
  });
  for (const cell of cells) if (wanted.every(({ dimension, value }) => cell[dimension] === value)) yield cell;
}

function findGroup(groups: Map<string | null, Summary>, name: string | null): Summary {
  let group = groups.get(name);
  if (group === undefined) {
    group = createSummary();
    groups.set(name, group);
  }
  return group;
}

function listGroups(
  groups: ReadonlyMap<string | null, Summary>,
  limit: number,
): (CallStatistics & { name: string | null })[] {
  return Array.from(groups, ([name, summary]) => ({ name, ...summary.show() }))
    .sort((one, other) => other.calls - one.calls)
    .slice(0, limit);
}

/** Sums up cells, and prints the sums. */
interface Summary {
  add(cell: StoredCell): void;
  show(): CallStatistics;
}

/** Outcomes that are not errors. */
const GOOD: ReadonlySet<string> = new Set(['ok', 'replayed']);
/** Outcomes of requests for which the proxy had no capacity, or that exceeded a limit. */
const REFUSED = ['overloaded', 'rate_limited'];

function createSummary(): Summary {
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
