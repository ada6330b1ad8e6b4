/** Search: domain, access rights, order, offset and limit determine the ids. Counts the rows that it examines. */
import { type Json, toNumber } from '../json/value.ts';
import { checkAccess, compileRule } from './access.ts';
import type { Test } from './compile-comparison.ts';
import { compileDomain, mentionsField } from './domain.ts';
import { Fault } from './fault.ts';
import type { Environment, Model } from './model.ts';
import { compileOrder, type Order } from './order.ts';
import { planScan } from './plan-scan.ts';
import type { Row } from './row.ts';
import { hidesArchived } from './values.ts';

export interface SearchOptions {
  readonly offset?: Json;
  readonly limit?: Json;
  readonly order?: Json;
  /** Keeps only the rows that pass the test. */
  readonly where?: Test;
}

export function searchIds(
  environment: Environment,
  model: Model,
  domain: Json,
  options: SearchOptions = {},
): number[] {
  checkAccess(environment, model, 'read');
  const test = compileDomain(environment, model, domain);
  const order = compileOrder(environment, model, options.order || null);
  const { offset, limit } = parsePage(environment, options);
  const mayAccess = compileRule(environment, model);
  const isActiveOnly =
    model.fields.has('active') && hidesArchived(environment) && !mentionsField(domain, 'active');
  const { where = () => true } = options;
  const { hiddenBy } = model;
  const isHidden =
    hiddenBy === undefined || [hiddenBy, 'id'].some((name) => mentionsField(domain, name))
      ? () => false
      : (row: Row) => Boolean(row[hiddenBy]);
  const { store } = environment;
  const wanted = limit === undefined ? undefined : offset + limit;
  const plan = planScan(store.table(model.name), domain, order.text, wanted);
  store.reads[plan.isIndexed ? 'byIndex' : 'byScan']++;
  const found = new FirstRows(plan.isOrdered ? undefined : order, wanted);
  for (const row of plan.rows) {
    store.reads.rows++;
    if (isActiveOnly && row['active'] === false) continue;
    if (isHidden(row) || !test(row) || !where(row) || !mayAccess(row)) continue;
    found.add(row);
    if (plan.isOrdered && found.isFull) break;
  }
  return found.list().slice(offset, wanted);
}

/** Number of records that match, up to the limit. */
export function countRows(environment: Environment, model: Model, domain: Json, limit: Json = null): number {
  return searchIds(environment, model, domain, { limit, order: 'id' }).length;
}

/** Keeps the ids of the first rows in an order. Needs little memory if only a few are wanted. */
class FirstRows {
  readonly #order: Order | undefined;
  readonly #wanted: number;
  #rows: { id: number; keys: Json[] }[] = [];

  /** If `order` is undefined, the rows must be added in the wanted order. */
  constructor(order: Order | undefined, wanted = Number.POSITIVE_INFINITY) {
    this.#order = order;
    this.#wanted = wanted;
  }

  get isFull(): boolean {
    return this.#rows.length >= this.#wanted;
  }

  add(row: Row): void {
    this.#rows.push({ id: row['id'] as number, keys: this.#order?.readKeys(row) ?? [] });
    if (this.#order && this.#rows.length > 2 * this.#wanted + 1000) this.#sort();
  }

  list(): number[] {
    this.#sort();
    return this.#rows.map(({ id }) => id);
  }

  #sort(): void {
    const { compare } = this.#order ?? {};
    if (compare) this.#rows.sort((left, right) => compare(left.keys, right.keys));
    if (this.isFull) this.#rows.length = this.#wanted;
  }
}

/** The items from `offset` on, at most `limit`. An invalid limit fails even if there are no items. */
export function pageOf<T>(environment: Environment, items: readonly T[], options: SearchOptions): T[] {
  const { offset, limit } = parsePage(environment, options);
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}

function parsePage(environment: Environment, options: SearchOptions) {
  const limit = parseLimit(environment, options.limit ?? null);
  return { limit, offset: parseLimit(environment, options.offset ?? null) ?? 0 };
}

function parseLimit(environment: Environment, limit: Json): number | undefined {
  if (limit === null || limit === false) return undefined;
  const number = toNumber(limit);
  if (number === undefined) throw environment.personality.texts.badLimit(limit);
  if (number < 0)
    throw new Fault('psycopg2.errors.InvalidRowCountInLimitClause', 'LIMIT must not be negative\n');
  return number || undefined;
}
