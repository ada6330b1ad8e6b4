/**
 * Decides how a search reads its table, like PostgreSQL's planner: by the ids that the domain lists, along an index
 * between two bounds, or the whole table. The bounds may include too many rows, never too few: the caller tests each
 * row.
 */
import { type Json, toNumber } from '../json/value.ts';
import type { Row } from './row.ts';
import { allIds, allTimes, padTime, type Range, type RowSource } from './row-source.ts';

export interface Plan {
  readonly rows: Iterable<Row>;
  /** Whether the rows come in the requested order. */
  readonly isOrdered: boolean;
  /** Whether an index limits the rows that are read. */
  readonly isIndexed: boolean;
}

/**
 * `wanted`: number of rows after which the caller stops; undefined: it reads all rows. The domain must be well formed.
 */
export function planScan(table: RowSource, domain: Json, order: string, wanted: number | undefined): Plan {
  const bounds = boundDomain(domain);
  const asked = parseOrder(order);
  if (bounds.ids) {
    const rows = bounds.ids.map((id) => table.get(id)).filter((row) => row !== undefined);
    if (asked?.isDescending) rows.reverse();
    return { rows, isOrdered: asked?.index === 'id', isIndexed: true };
  }
  const total = table.estimate(allIds);
  const sizes = { id: table.estimate(bounds.id), write_date: table.estimate(bounds.write_date) };
  const matching = Math.min(sizes.id, sizes.write_date);
  const costOf = (index: 'id' | 'write_date') =>
    asked?.index === index && wanted !== undefined
      ? Math.min(sizes[index], (wanted * total) / Math.max(1, matching))
      : sizes[index];
  const best = costOf('id') === costOf('write_date') ? (asked?.index ?? 'id') : pickCheaper(costOf);
  const isOrdered = asked?.index === best;
  const isBounded = sizes[best] < total;
  return {
    rows: table.scan(bounds[best], isOrdered && asked.isDescending),
    isOrdered,
    isIndexed: isBounded || (isOrdered && wanted !== undefined),
  };
}

function pickCheaper(costOf: (index: 'id' | 'write_date') => number): 'id' | 'write_date' {
  return costOf('id') < costOf('write_date') ? 'id' : 'write_date';
}

/** The index with this order; undefined if there is none. */
function parseOrder(order: string): { index: 'id' | 'write_date'; isDescending: boolean } | undefined {
  const parts = order
    .toLowerCase()
    .replaceAll('"', '')
    .split(',')
    .map((part) => part.trim().split(/\s+/));
  const [first, second] = parts;
  const isDescending = first?.[1] === 'desc';
  if (parts.some((part) => part.length > 2 || (part[1] === 'desc') !== isDescending)) return undefined;
  if (first?.[0] === 'id') return { index: 'id', isDescending };
  const isByTime = first?.[0] === 'write_date' && (!second || second[0] === 'id');
  return isByTime ? { index: 'write_date', isDescending } : undefined;
}

interface Bounds {
  /** The only ids that can match, in ascending order. */
  readonly ids?: readonly number[];
  readonly id: Range & { index: 'id' };
  readonly write_date: Range & { index: 'write_date' };
}

const unbounded = { id: allIds, write_date: allTimes } as Bounds;

function boundDomain(domain: Json): Bounds {
  const items = Array.isArray(domain) ? [...(domain as readonly Json[])] : [];
  let bounds = unbounded;
  while (items.length > 0) bounds = intersect(bounds, boundItem(items));
  return bounds;
}

function boundItem(items: Json[]): Bounds {
  const item = items.shift() as Json;
  if (item === '!') {
    boundItem(items);
    return unbounded;
  }
  if (item !== '&' && item !== '|') return boundCondition(item as readonly Json[]);
  const left = boundItem(items);
  const right = boundItem(items);
  return item === '&' ? intersect(left, right) : unite(left, right);
}

function boundCondition([name = null, operator = null, value = null]: readonly Json[]): Bounds {
  if (name === 'id') return boundId(String(operator), value);
  if (name !== 'write_date' || typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)) return unbounded;
  // 19 compares whole seconds, so that the upper bound is the last microsecond.
  const isDay = value.length === 10;
  const low = padTime(isDay ? `${value} 00:00:00` : value.slice(0, 19));
  const high = `${isDay ? `${value} 23:59:59` : value.slice(0, 19)}.999999`;
  const isFrom = ['>', '>=', '='].includes(String(operator));
  const isTo = ['<', '<=', '='].includes(String(operator));
  const min = isFrom ? low : allTimes.min;
  const max = isTo ? high : allTimes.max;
  return { ...unbounded, write_date: { index: 'write_date', min, max } as Bounds['write_date'] };
}

function boundId(operator: string, value: Json): Bounds {
  const listed = (Array.isArray(value) ? (value as readonly Json[]) : [value]).map(toNumber);
  if (operator === '=' || operator === '==' || operator === 'in') {
    if (listed.some((id) => id === undefined)) return unbounded;
    return { ...unbounded, ids: [...new Set(listed as number[])].sort((a, b) => a - b) };
  }
  const bound = toNumber(value);
  if (bound === undefined) return unbounded;
  const min = operator === '>' ? Math.floor(bound) + 1 : operator === '>=' ? Math.ceil(bound) : allIds.min;
  const max = operator === '<' ? Math.ceil(bound) - 1 : operator === '<=' ? Math.floor(bound) : allIds.max;
  return { ...unbounded, id: { index: 'id', min, max } as Bounds['id'] };
}

function intersect(left: Bounds, right: Bounds): Bounds {
  const { ids } = !left.ids || (right.ids && right.ids.length < left.ids.length) ? right : left;
  return {
    ...(ids && { ids }),
    id: {
      index: 'id',
      min: Math.max(left.id.min, right.id.min),
      max: Math.min(left.id.max, right.id.max),
    },
    write_date: {
      index: 'write_date',
      min: maxText(left.write_date.min, right.write_date.min),
      max: minText(left.write_date.max, right.write_date.max),
    },
  };
}

function unite(left: Bounds, right: Bounds): Bounds {
  const ids = left.ids && right.ids && [...new Set([...left.ids, ...right.ids])].sort((a, b) => a - b);
  return {
    ...(ids && { ids }),
    id: {
      index: 'id',
      min: Math.min(left.id.min, right.id.min),
      max: Math.max(left.id.max, right.id.max),
    },
    write_date: {
      index: 'write_date',
      min: minText(left.write_date.min, right.write_date.min),
      max: maxText(left.write_date.max, right.write_date.max),
    },
  };
}

const minText = (a: string, b: string): string => (a < b ? a : b);
const maxText = (a: string, b: string): string => (a > b ? a : b);
