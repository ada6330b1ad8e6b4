/** Groups the rows of a domain by fields, and dates by day, week, month, quarter or year. */
import type { Json, JsonObject } from '../json/value.ts';
import { cutDate } from './cut-date.ts';
import { valueError } from './fault.ts';
import { isToMany } from './field.ts';
import type { Environment, Model } from './model.ts';
import type { Row } from './row.ts';
import { compareScalars, searchIds } from './search.ts';
import { getValue, showReference } from './values.ts';

export interface GroupKey {
  readonly spec: string;
  readonly label: Json;
  readonly domain: readonly Json[];
  readonly range: JsonObject | undefined;
  /** The sort key of the group; null sorts last. */
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
  return [...groups.values()].sort(compareGroups(specs, order));
}

type KeyMaker = (row: Row) => GroupKey[];

function makeKeys(environment: Environment, model: Model, spec: string): KeyMaker {
  const [name = '', unit] = spec.split(':');
  const field = model.fields.get(name);
  if (!field) throw valueError(`Invalid field '${name}' on model '${model.name}'`);
  const isDate = field.type === 'date' || field.type === 'datetime';
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
        const label = showReference(environment, field.relation, one as number);
        return { ...plain, label, rank: Array.isArray(label) ? (label[1] as Json) : null };
      }
      if (!isDate) return { ...plain, label: one };
      const { label, from, to } = cutDate(String(one), unit ?? 'month');
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

function compareGroups(specs: readonly string[], order: Json) {
  const asked =
    typeof order === 'string' && order ? order.split(',').map((part) => part.trim().split(/\s+/)) : [];
  const sorts = [...asked, ...specs.map((spec) => [spec, 'asc'])].flatMap(
    ([name = '', direction = 'asc']) => {
      const index = specs.findIndex((spec) => spec === name || spec.split(':')[0] === name);
      const sign = direction.toLowerCase() === 'desc' ? -1 : 1;
      if (index >= 0)
        return [
          (a: Group, b: Group) =>
            sign * compareRanks(a.keys[index]?.rank ?? null, b.keys[index]?.rank ?? null),
        ];
      return name.includes('count') ? [(a: Group, b: Group) => sign * (a.rows.length - b.rows.length)] : [];
    },
  );
  return (a: Group, b: Group) => {
    for (const sort of sorts) {
      const result = sort(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function compareRanks(a: Json, b: Json): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compareScalars(a, b);
}
