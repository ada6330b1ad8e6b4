/**
 * The rows of one model in one layer: new and changed rows over the rows of the layer below, which is never changed.
 * Indexes cover the rows of this layer and are created when a query first needs them.
 */
import type { Json } from '../json/value.ts';
import type { Row } from './row.ts';
import { keyTime, type Range, type RowSource } from './row-source.ts';
import { SortedKeys } from './sorted-keys.ts';

/** null: the row of the layer below is deleted. undefined: the row of the layer below is unchanged. */
export type Entry = Row | null | undefined;

export class Table implements RowSource {
  readonly #below: RowSource | undefined;
  readonly #entries = new Map<number, Row | null>();
  readonly #columns = new Map<string, Map<Json, Set<number>>>();
  #ids: SortedKeys<number> | undefined;
  #times: SortedKeys<string> | undefined;

  constructor(below?: RowSource) {
    this.#below = below;
  }

  get(id: number): Row | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? this.#below?.get(id) : (entry ?? undefined);
  }

  /** The row in this layer only. */
  entry(id: number): Entry {
    return this.#entries.get(id);
  }

  entries(): IterableIterator<[number, Row | null]> {
    return this.#entries.entries();
  }

  setEntry(id: number, entry: Entry): void {
    const before = this.#entries.get(id);
    if (before) this.#unindex(id, before);
    if (entry === undefined) this.#entries.delete(id);
    else this.#entries.set(id, entry);
    if (entry) this.#index(id, entry);
  }

  /** undefined deletes the row. */
  put(id: number, row: Row | undefined): void {
    this.setEntry(id, row ?? (this.#below?.get(id) ? null : undefined));
  }

  *scan(range: Range, isDescending = false): Generator<Row> {
    const own = this.#scanOwn(range, isDescending);
    if (!this.#below) {
      yield* own;
      return;
    }
    const keyOf = (row: Row) => (range.index === 'id' ? (row['id'] as number) : keyTime(row));
    let next = own.next();
    for (const row of this.#below.scan(range, isDescending)) {
      if (this.#entries.has(row['id'] as number)) continue;
      while (!next.done && keyOf(next.value) < keyOf(row) !== isDescending) {
        yield next.value;
        next = own.next();
      }
      yield row;
    }
    while (!next.done) {
      yield next.value;
      next = own.next();
    }
  }

  estimate(range: Range): number {
    const own =
      range.index === 'id'
        ? this.#indexIds().estimate(range.min, range.max)
        : this.#indexTimes().estimate(range.min, `${range.max}\uffff`);
    return own + (this.#below?.estimate(range) ?? 0);
  }

  where(column: string, value: Json): Row[] {
    const own = [...(this.#indexColumn(column).get(value) ?? [])].map((id) => this.#entries.get(id) as Row);
    const below = this.#below?.where(column, value) ?? [];
    const rows = [...own, ...below.filter((row) => !this.#entries.has(row['id'] as number))];
    return rows.sort((a, b) => (a['id'] as number) - (b['id'] as number));
  }

  *#scanOwn(range: Range, isDescending: boolean): Generator<Row> {
    if (range.index === 'id') {
      for (const id of this.#indexIds().range(range.min, range.max, isDescending))
        yield this.#entries.get(id) as Row;
      return;
    }
    for (const key of this.#indexTimes().range(range.min, `${range.max}\uffff`, isDescending))
      yield this.#entries.get(Number(key.slice(-16))) as Row;
  }

  #indexIds(): SortedKeys<number> {
    this.#ids ??= new SortedKeys(this.#rows().map(([id]) => id));
    return this.#ids;
  }

  #indexTimes(): SortedKeys<string> {
    this.#times ??= new SortedKeys(this.#rows().map(([, row]) => keyTime(row)));
    return this.#times;
  }

  #indexColumn(column: string): Map<Json, Set<number>> {
    let index = this.#columns.get(column);
    if (!index) {
      index = new Map();
      for (const [id, row] of this.#rows()) addToColumn(index, row[column], id);
      this.#columns.set(column, index);
    }
    return index;
  }

  #rows(): [number, Row][] {
    return [...this.#entries].filter((entry): entry is [number, Row] => entry[1] !== null);
  }

  #index(id: number, row: Row): void {
    this.#ids?.add(id);
    this.#times?.add(keyTime(row));
    for (const [column, index] of this.#columns) addToColumn(index, row[column], id);
  }

  #unindex(id: number, row: Row): void {
    this.#ids?.delete(id);
    this.#times?.delete(keyTime(row));
    for (const [column, index] of this.#columns) {
      for (const value of listValues(row[column])) {
        index.get(value)?.delete(id);
        if (index.get(value)?.size === 0) index.delete(value);
      }
    }
  }
}

function addToColumn(index: Map<Json, Set<number>>, value: Json | undefined, id: number): void {
  for (const item of listValues(value)) {
    const ids = index.get(item);
    if (ids) ids.add(id);
    else index.set(item, new Set([id]));
  }
}

function listValues(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
