/** Search: domain, access rights, order, offset and limit determine the ids. Counts the rows that it examines. */
import { type Json, toNumber } from '../json/value.ts';
import { checkAccess, compileRule } from './access.ts';
import { compileDomain, mentionsField } from './domain.ts';
import { Fault, userError } from './fault.ts';
import type { Environment, Model } from './model.ts';
import { planScan } from './plan-scan.ts';
import type { Row } from './row.ts';
import { readStored } from './values.ts';

export interface SearchOptions {
  readonly offset?: Json;
  readonly limit?: Json;
  readonly order?: Json;
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
    model.fields.has('active') &&
    environment.context['active_test'] !== false &&
    !mentionsField(domain, 'active');
  const { store } = environment;
  const wanted = limit === undefined ? undefined : offset + limit;
  const plan = planScan(store.table(model.name), domain, order.text, wanted);
  store.reads[plan.isIndexed ? 'byIndex' : 'byScan']++;
  const found = new FirstRows(plan.isOrdered ? undefined : order, wanted);
  for (const row of plan.rows) {
    store.reads.rows++;
    if (isActiveOnly && row['active'] === false) continue;
    if (!test(row) || !mayAccess(row)) continue;
    found.add(row);
    if (plan.isOrdered && found.isFull) break;
  }
  return found.list().slice(offset, wanted);
}

/** Number of records that match, up to the limit. */
export function countRows(environment: Environment, model: Model, domain: Json, limit: Json = null): number {
  return searchIds(environment, model, domain, { limit, order: 'id' }).length;
}

/** Keeps the ids of the first rows in an order, in little memory if only some are wanted. */
class FirstRows {
  readonly #order: Order | undefined;
  readonly #wanted: number;
  #rows: { id: number; keys: Json[] }[] = [];

  /** Without an order, the rows are added in order. */
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

interface Order {
  readonly text: string;
  /** The values of a row that decide its position. */
  readonly readKeys: (row: Row) => Json[];
  readonly compare: (left: readonly Json[], right: readonly Json[]) => number;
}

const orderPattern =
  /^(\s*([a-z0-9:_.]+|"[a-z0-9:_.]+")(\s+(desc|asc))?(\s+nulls\s+(first|last))?\s*(,|$))+(?<!,)$/i;
const collator = new Intl.Collator('en', { sensitivity: 'variant' });

function compileOrder(environment: Environment, model: Model, order: Json, depth = 0): Order {
  const text = typeof order === 'string' ? order : (model.order ?? 'id');
  if (!orderPattern.test(text)) {
    throw userError(
      `Invalid "order" specified (${text}). A valid "order" specification is a comma-separated list of valid field names (optionally followed by asc/desc for the direction)`,
    );
  }
  const parts = text.split(',').map((part) => compilePart(environment, model, part.trim(), depth));
  return {
    text,
    readKeys: (row) => parts.map((part) => part.readKey(row)),
    compare: (left, right) => {
      for (const [index, part] of parts.entries()) {
        const result = part.compare(left[index] as Json, right[index] as Json);
        if (result !== 0) return result;
      }
      return 0;
    },
  };
}

function compilePart(environment: Environment, model: Model, part: string, depth: number) {
  const [name = '', direction = 'asc'] = part.split(/\s+/);
  const field = model.fields.get(name);
  if (!field) throw new Fault('builtins.ValueError', `Invalid field '${name}' on model '${model.name}'`);
  const sign = direction.toLowerCase() === 'desc' ? -1 : 1;
  const related = field.type === 'many2one' && depth < 2 ? environment.model(field.relation!) : undefined;
  const relatedOrder = related && compileOrder(environment, related, null, depth + 1);
  const readRelated = (id: Json): Json[] =>
    relatedOrder!.readKeys(environment.store.get(related!.name, id as number) ?? ({ id } as Row));
  return {
    readKey: (row: Row) => readStored(environment, model, row, field),
    compare: (a: Json, b: Json): number => {
      if (a === b) return 0;
      // PostgreSQL puts nulls last in ascending order, and first in descending order.
      if (a === null || b === null) return sign * (a === null ? 1 : -1);
      return (
        sign * (relatedOrder ? relatedOrder.compare(readRelated(a), readRelated(b)) : compareScalars(a, b))
      );
    },
  };
}

export function compareScalars(a: Json, b: Json): number {
  if (typeof a === 'string' && typeof b === 'string')
    return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
  return Number(a) - Number(b);
}

function parseLimit(environment: Environment, limit: Json): number | undefined {
  if (limit === null || limit === false) return undefined;
  const number = toNumber(limit);
  if (number === undefined) throw environment.personality.texts.badLimit(limit);
  if (number < 0)
    throw new Fault('psycopg2.errors.InvalidRowCountInLimitClause', 'LIMIT must not be negative\n');
  return number || undefined;
}
