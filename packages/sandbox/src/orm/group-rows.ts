/** Groups the rows of a domain by fields, and dates by day, week, month, quarter or year. */
import { type Json, type JsonObject, toNumber } from '../json/value.ts';
import { aggregateRows, parseAggregate } from './aggregate-rows.ts';
import { cutDate } from './cut-date.ts';
import { valueError } from './fault.ts';
import { isNumeric, isToMany } from './field.ts';
import type { Environment, Model } from './model.ts';
import { compareScalars, compileIdComparison } from './order.ts';
import type { Row } from './row.ts';
import { searchIds } from './search.ts';
import { isTimeZone } from './time-zone.ts';
import { getValue, showReference } from './values.ts';

export interface GroupKey {
  readonly spec: string;
  readonly label: Json;
  readonly domain: readonly Json[];
  readonly range: JsonObject | undefined;
  /** The sort key of the group: a value, or the id of a record. Null sorts last. */
  readonly rank: Json;
}

export interface Group {
  readonly keys: readonly GroupKey[];
  readonly rows: Row[];
}

export function listGroups(
  environment: Environment,
  model: Model,
  domain: Json,
  specs: readonly string[],
  order: Json,
): Group[] {
  const cut = specs.map((spec) => makeKeys(environment, model, spec));
  const groups = new Map<string, Group>();
  for (const id of searchIds(environment, model, domain, { order: 'id' })) {
    const row = environment.store.get(model.name, id) as Row;
    for (const keys of combine(cut.map((make) => make(row)))) {
      const name = JSON.stringify(
        keys.map((key) => [key.label, key.range]),
        (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
      );
      const group = groups.get(name) ?? { keys, rows: [] };
      group.rows.push(row);
      groups.set(name, group);
    }
  }
  if (specs.length === 0 && groups.size === 0) groups.set('', { keys: [], rows: [] });
  return [...groups.values()].sort(compareGroups(environment, model, specs, order));
}

type KeyMaker = (row: Row) => GroupKey[];

function makeKeys(environment: Environment, model: Model, spec: string): KeyMaker {
  const [name = '', unit] = spec.split(':');
  const field = model.fields.get(name);
  if (!field) throw valueError(`Invalid field '${name}' on model '${model.name}'`);
  const isDate = field.type === 'date' || field.type === 'datetime';
  const { tz } = environment.context;
  const zone = isTimeZone(tz) ? tz : 'UTC';
  return (row) => {
    const value = getValue(environment, model, row, field);
    const values =
      isToMany(field) && Array.isArray(value) && value.length > 0
        ? (value as readonly Json[])
        : [isToMany(field) ? null : value];
    return values.map((one): GroupKey => {
      const plain = { spec, range: undefined, domain: [[name, '=', one ?? false]], rank: one };
      if (one === null) return { ...plain, label: false };
      if (field.relation) {
        return { ...plain, label: showReference(environment, field.relation, one as number) };
      }
      if (!isDate) return { ...plain, label: one };
      const { label, from, to } = cutDate(String(one), unit ?? 'month', zone);
      return {
        spec,
        label,
        domain: ['&', [name, '>=', from], [name, '<', to]],
        range: { from, to },
        rank: from,
      };
    });
  };
}

function combine(parts: readonly GroupKey[][]): GroupKey[][] {
  return parts.reduce<GroupKey[][]>(
    (all, keys) => all.flatMap((done) => keys.map((key) => [...done, key])),
    [[]],
  );
}

type CompareGroups = (a: Group, b: Group) => number;

/**
 * Compares groups: groups by a many2one field have the order of its model. If an order leaves groups equal, they are
 * sorted by id or value.
 */
function compareGroups(
  environment: Environment,
  model: Model,
  specs: readonly string[],
  order: Json,
): CompareGroups {
  const asked =
    typeof order === 'string' && order ? order.split(',').map((part) => part.trim().split(/\s+/)) : [];
  const own = asked.length > 0 ? [] : specs.map((spec) => [spec, 'asc']);
  const rankers = specs.map((spec) => pickRanker(environment, model, spec));
  const compareRank =
    (index: number, compare: CompareRanks): CompareGroups =>
    (a, b) =>
      compare(a.keys[index]?.rank ?? null, b.keys[index]?.rank ?? null);
  const sorts = [...asked, ...own].map(([name = '', direction = 'asc']): CompareGroups => {
    const index = specs.findIndex((spec) => spec === name || spec.split(':')[0] === name);
    const sign = direction.toLowerCase() === 'desc' ? -1 : 1;
    const compare =
      index >= 0 ? compareRank(index, rankers[index]!) : compareAggregates(environment, model, name);
    return (a, b) => sign * compare(a, b);
  });
  const ties = specs.map((_, index) => compareRank(index, compareRanks));
  return (a, b) => {
    for (const sort of [...sorts, ...ties]) {
      const result = sort(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

/** Compares groups by an aggregate (`amount_total:sum`; `amount_total` means its sum), or by the number of records. */
function compareAggregates(environment: Environment, model: Model, name: string): CompareGroups {
  if (name.endsWith('_count')) return (a, b) => a.rows.length - b.rows.length;
  const field = model.fields.get(name);
  if (field !== undefined && !isNumeric(field)) return () => 0;
  const aggregate = parseAggregate(environment, model, field === undefined ? name : `${name}:sum`);
  if (aggregate === undefined) return () => 0;
  const known = new Map<Group, Json>();
  const read = (group: Group): Json => {
    const found = known.get(group) ?? aggregateRows(environment, model, group.rows, aggregate);
    known.set(group, found);
    return toNumber(found) ?? found;
  };
  return (a, b) => compareRanks(read(a), read(b));
}

type CompareRanks = (a: Json, b: Json) => number;

function pickRanker(environment: Environment, model: Model, spec: string): CompareRanks {
  const relation = model.fields.get(spec.split(':')[0] ?? '')?.relation;
  if (relation === undefined) return compareRanks;
  const related = environment.model(relation);
  const compareIds = compileIdComparison(environment, related);
  return (a, b) => (a === null || b === null ? compareRanks(a, b) : compareIds(a as number, b as number));
}

function compareRanks(a: Json, b: Json): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compareScalars(a, b);
}
