/** Search: domain, access rights, order, offset and limit determine the ids. */
import { type Json, toNumber } from '../json/value.ts';
import { checkAccess, filterByRule } from './access.ts';
import { compileDomain, mentionsField } from './domain.ts';
import { Fault, userError } from './fault.ts';
import type { Environment, Model } from './model.ts';
import type { Row } from './row.ts';
import { getValue } from './values.ts';

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
  const compare = compileOrder(environment, model, options.order || null);
  const isActiveOnly =
    model.fields.has('active') &&
    environment.context['active_test'] !== false &&
    !mentionsField(domain, 'active');
  const rows: Row[] = [];
  for (const row of environment.store.table(model.name).values()) {
    if (isActiveOnly && row['active'] === false) continue;
    if (test(row)) rows.push(row);
  }
  rows.sort(compare);
  const ids = filterByRule(
    environment,
    model,
    rows.map((row) => row['id'] as number),
  );
  return pageOf(environment, ids, options);
}

/** The items from `offset` on, at most `limit`. An invalid limit fails even if there are no items. */
export function pageOf<T>(environment: Environment, items: readonly T[], options: SearchOptions): T[] {
  const limit = parseLimit(environment, options.limit ?? null);
  const offset = parseLimit(environment, options.offset ?? null) ?? 0;
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}

type Compare = (left: Row, right: Row) => number;

const orderPattern =
  /^(\s*([a-z0-9:_.]+|"[a-z0-9:_.]+")(\s+(desc|asc))?(\s+nulls\s+(first|last))?\s*(,|$))+(?<!,)$/i;
const collator = new Intl.Collator('en', { sensitivity: 'variant' });

function compileOrder(environment: Environment, model: Model, order: Json, depth = 0): Compare {
  const text = typeof order === 'string' ? order : (model.order ?? 'id');
  if (!orderPattern.test(text)) {
    throw userError(
      `Invalid "order" specified (${text}). A valid "order" specification is a comma-separated list of valid field names (optionally followed by asc/desc for the direction)`,
    );
  }
  const parts = text.split(',').map((part) => compilePart(environment, model, part.trim(), depth));
  return (left, right) => {
    for (const part of parts) {
      const result = part(left, right);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function compilePart(environment: Environment, model: Model, part: string, depth: number): Compare {
  const [name = '', direction = 'asc'] = part.split(/\s+/);
  const field = model.fields.get(name);
  if (!field) throw new Fault('builtins.ValueError', `Invalid field '${name}' on model '${model.name}'`);
  const sign = direction.toLowerCase() === 'desc' ? -1 : 1;
  const related = field.type === 'many2one' && depth < 2 ? environment.model(field.relation!) : undefined;
  const relatedOrder = related && compileOrder(environment, related, null, depth + 1);
  return (left, right) => {
    const a = getValue(environment, model, left, field);
    const b = getValue(environment, model, right, field);
    if (a === b) return 0;
    // PostgreSQL puts nulls last in ascending order, and first in descending order.
    if (a === null || b === null) return sign * (a === null ? 1 : -1);
    if (related && relatedOrder) {
      const rows = [a, b].map((id) => environment.store.get(related.name, id as number) ?? { id });
      return sign * relatedOrder(rows[0] as Row, rows[1] as Row);
    }
    return sign * compareScalars(a, b);
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
