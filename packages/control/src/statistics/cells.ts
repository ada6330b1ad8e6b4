/**
 * The calls of one period, counted in cells: one for each combination of instance, client, model and method. The number
 * of cells is bounded, also for names that callers make up. Pure.
 */

/** The names of a cell. Null: the call has no such name, or calls are not counted by it. */
export interface CellNames {
  readonly instance: string | null;
  readonly client: string | null;
  readonly model: string | null;
  readonly action: string | null;
}

export type Dimension = keyof CellNames;

/** The facts that are counted of a call. */
export interface CountedCall extends CellNames {
  /** `ok`, `replayed`, or the type of the error. */
  outcome: string;
  sharedFrom: string | null;
  totalMs: number;
  /** Time that Odoo took; null if the call was not sent to Odoo. */
  upstreamMs: number | null;
}

export interface Cell extends CellNames {
  /** Number of calls by outcome. */
  readonly outcomes: Map<string, number>;
  /** Number of calls that were answered by an equal read. */
  shared: number;
  /** Time in the proxy itself. `odooMs`: time of Odoo up to the head of its answer. */
  readonly proxyMs: Durations;
  readonly odooMs: Durations;
}

/** Maximum number of cells of a period in one process. Further calls are counted in a cell with fewer names. */
const CELLS_MAX = 300;

export class Cells {
  readonly #byInstance = new Map<
    string | null,
    Map<string | null, Map<string | null, Map<string | null, Cell>>>
  >();
  #count = 0;

  add(call: CountedCall): void {
    const cell = this.#find(call, ANSWERED.has(call.outcome));
    cell.outcomes.set(call.outcome, (cell.outcomes.get(call.outcome) ?? 0) + 1);
    if (call.sharedFrom !== null) cell.shared++;
    cell.proxyMs.add(call.totalMs - (call.upstreamMs ?? 0));
    if (call.upstreamMs !== null) cell.odooMs.add(call.upstreamMs);
  }

  /**
   * Counts requests that were refused before their calls were read. Their durations are negligible, and not counted.
   */
  addRefused(client: string | null, outcome: string, count: number): void {
    const { outcomes } = this.#find({ ...NO_NAMES, client }, true);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
  }

  addCell(other: Cell): void {
    const cell = this.#find(other, true);
    for (const [outcome, count] of other.outcomes)
      cell.outcomes.set(outcome, (cell.outcomes.get(outcome) ?? 0) + count);
    cell.shared += other.shared;
    cell.proxyMs.addAll(other.proxyMs);
    cell.odooMs.addAll(other.odooMs);
  }

  addAll(other: Cells): void {
    for (const cell of other.list()) this.addCell(cell);
  }

  *list(): Generator<Cell> {
    for (const clients of this.#byInstance.values())
      for (const models of clients.values()) for (const actions of models.values()) yield* actions.values();
  }

  /**
   * `mayAdd`: false for names that no answer of Odoo has confirmed. They get no cell, since a caller can make up any
   * number.
   */
  #find(names: CellNames, mayAdd: boolean): Cell {
    const found = this.#byInstance
      .get(names.instance)
      ?.get(names.client)
      ?.get(names.model)
      ?.get(names.action);
    if (found !== undefined) return found;
    if (mayAdd && this.#count < CELLS_MAX) return this.#insert(names);
    const { client } = names;
    const ofClient = { ...NO_NAMES, client };
    if (!isSame(names, ofClient)) return this.#find(ofClient, true);
    return client === null ? this.#insert(NO_NAMES) : this.#find(NO_NAMES, true);
  }

  #insert({ instance, client, model, action }: CellNames): Cell {
    const cell: Cell = {
      instance,
      client,
      model,
      action,
      outcomes: new Map(),
      shared: 0,
      proxyMs: new Durations(),
      odooMs: new Durations(),
    };
    const clients = getOrAdd(this.#byInstance, instance);
    const models = getOrAdd(clients, client);
    getOrAdd(models, model).set(action, cell);
    this.#count++;
    return cell;
  }
}

const NO_NAMES: CellNames = { instance: null, client: null, model: null, action: null };

/** Outcomes of calls whose model and method exist. */
const ANSWERED: ReadonlySet<string> = new Set([
  'ok',
  'replayed',
  'user_error',
  'validation_error',
  'redirect_warning',
  'access_error',
  'record_missing',
  'concurrency_conflict',
]);

function isSame(one: CellNames, other: CellNames): boolean {
  return (
    one.instance === other.instance &&
    one.client === other.client &&
    one.model === other.model &&
    one.action === other.action
  );
}

function getOrAdd<Inner extends Map<string | null, unknown>>(
  outer: Map<string | null, Inner>,
  key: string | null,
): Inner {
  let inner = outer.get(key);
  if (inner === undefined) {
    inner = new Map() as Inner;
    outer.set(key, inner);
  }
  return inner;
}

/** Quantiles in milliseconds. */
export interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

const FIRST_BOUND_MS = 0.1;
const FACTOR = 1.2;
const LOG_FACTOR = Math.log(FACTOR);
/** Number of buckets. The last one has all durations above five minutes. */
const BUCKETS = Math.ceil(Math.log(300_000 / FIRST_BOUND_MS) / LOG_FACTOR) + 2;

/**
 * Counts durations in buckets whose bounds grow by a fixed factor, so that quantiles of any period can be computed
 * from sums of counts. A quantile is accurate to about a tenth. Pure.
 */
export class Durations {
  readonly #counts = new Uint32Array(BUCKETS);
  count = 0;

  add(ms: number): void {
    this.#counts[findBucket(ms)]! += 1;
    this.count++;
  }

  addAll(other: Durations): void {
    for (let index = 0; index < BUCKETS; index++) this.#counts[index]! += other.#counts[index]!;
    this.count += other.count;
  }

  /** The quantiles; null if there are no durations. */
  quantiles(): Quantiles | null {
    if (this.count === 0) return null;
    return { p50: this.#quantile(0.5), p95: this.#quantile(0.95), p99: this.#quantile(0.99) };
  }

  /** Pairs of index and count, without empty buckets: `[3, 1, 17, 20]`. */
  toJSON(): number[] {
    const pairs: number[] = [];
    for (const [index, count] of this.#counts.entries()) if (count > 0) pairs.push(index, count);
    return pairs;
  }

  /** Adds the counts of a result of `toJSON`. Ignores invalid pairs. */
  addPairs(pairs: unknown): void {
    if (!Array.isArray(pairs)) return;
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const index: unknown = pairs[at];
      const count: unknown = pairs[at + 1];
      if (!isBucket(index) || !isCount(count)) continue;
      this.#counts[index]! += count;
      this.count += count;
    }
  }

  #quantile(part: number): number {
    let left = part * this.count;
    for (const [index, count] of this.#counts.entries()) {
      if (count === 0 || count < left) {
        left -= count;
        continue;
      }
      // Durations count as evenly spread within a bucket.
      const low = index === 0 ? 0 : FIRST_BOUND_MS * FACTOR ** (index - 1);
      const high = FIRST_BOUND_MS * FACTOR ** index;
      return roundToThree(low + (high - low) * Math.max(0, left / count));
    }
    return 0;
  }
}

function findBucket(ms: number): number {
  if (!(ms > FIRST_BOUND_MS)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST_BOUND_MS) / LOG_FACTOR));
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isBucket(index: unknown): index is number {
  return Number.isInteger(index) && (index as number) >= 0 && (index as number) < BUCKETS;
}

/** Rounds to three significant digits: more would suggest an accuracy that does not exist. */
function roundToThree(ms: number): number {
  return Number(ms.toPrecision(3));
}
