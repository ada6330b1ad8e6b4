/**
 * The statistics of one process in one minute or hour, and their text in the store. Text of other versions of the
 * program is read as far as possible. Pure.
 */
import { tryParse } from '@erp-proxy/contract';
import { type CellNames, Cells } from './cells.ts';

export const STEPS = { minute: 60_000, hour: 3_600_000 } as const;
export type Step = keyof typeof STEPS;

/** Numbers of unfinished requests and calls at a moment. */
export interface Gauges {
  /** Number of requests that have not been answered. */
  inFlight: number;
  /** Number of calls that wait for an Odoo database. */
  queued: number;
}

export interface Period {
  readonly step: Step;
  /** Milliseconds since 1970, a multiple of the step. */
  readonly startsAt: number;
  readonly cells: Cells;
  /** The maximum of each number during the period. */
  readonly most: Gauges;
}

export function createPeriod(step: Step, now: number): Period {
  const startsAt = now - (now % STEPS[step]);
  return { step, startsAt, cells: new Cells(), most: { inFlight: 0, queued: 0 } };
}

/** Adds the statistics of another period. */
export function addPeriod(period: Period, { cells, most }: Period): void {
  period.cells.addAll(cells);
  raiseMost(period, most);
}

export function raiseMost({ most }: Period, { inFlight, queued }: Gauges): void {
  most.inFlight = Math.max(most.inFlight, inFlight);
  most.queued = Math.max(most.queued, queued);
}

type CellText = [
  ...names: (string | null)[],
  outcomes: Record<string, unknown> | null,
  shared: unknown,
  proxyMs: unknown,
  odooMs: unknown,
];

export function printPeriod({ cells, most }: Period): string {
  const texts = Array.from(cells.list(), (cell) => [
    cell.instance,
    cell.client,
    cell.model,
    cell.action,
    Object.fromEntries(cell.outcomes),
    cell.shared,
    cell.proxyMs,
    cell.odooMs,
  ]);
  return JSON.stringify({ most: [most.inFlight, most.queued], cells: texts });
}

/**
 * A cell as the text of a period has it. It is not converted further, so that sums of thousands of periods are cheap.
 */
export interface StoredCell extends CellNames {
  /** Number of calls by outcome, not validated. */
  readonly outcomes: Readonly<Record<string, unknown>>;
  readonly shared: number;
  /** The pairs of `Durations.toJSON`, not validated. */
  readonly proxyMs: unknown;
  readonly odooMs: unknown;
}

/** Parses a result of `printPeriod`. Damaged parts are left out. */
export function readPeriod(text: string): { most: Gauges; cells: StoredCell[] } {
  const { most, cells } = parse(text);
  const [inFlight, queued] = Array.isArray(most) ? most : [];
  return {
    most: { inFlight: toCount(inFlight), queued: toCount(queued) },
    cells: Array.isArray(cells)
      ? cells.flatMap((cell) => (Array.isArray(cell) ? readCell(cell as CellText) : []))
      : [],
  };
}

function readCell([
  instance,
  client,
  model,
  action,
  outcomes,
  shared,
  proxyMs,
  odooMs,
]: CellText): StoredCell {
  return {
    instance: toName(instance),
    client: toName(client),
    model: toName(model),
    action: toName(action),
    outcomes: typeof outcomes === 'object' && outcomes !== null ? outcomes : NO_OUTCOMES,
    shared: toCount(shared),
    proxyMs,
    odooMs,
  };
}

const NO_OUTCOMES = {};

function parse(text: string): { most?: unknown; cells?: unknown } {
  return tryParse(text) ?? {};
}

function toName(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** 0 if the value is not a count. */
export function toCount(value: unknown): number {
  return Number.isInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}
