/** Methods that search and read: search, read, name_search and similar ones. */
import { isObject, isTrue, type Json, toNumber } from '../../json/value.ts';
import { compileNamed } from '../compile-comparison.ts';
import { keyError } from '../fault.ts';
import { isToMany } from '../field.ts';
import type { Call, Method } from '../model.ts';
import { readRows, showField } from '../read.ts';
import { countRows, searchIds } from '../search.ts';
import { isSortable } from '../searchable.ts';
import { showRecordset } from '../show-recordset.ts';
import { getValue, nameRow } from '../values.ts';
import { recordMissing } from '../write.ts';

const owner = 'BaseModel';

export const queryMethods: Readonly<Record<string, Method>> = {
  search: {
    owner,
    kind: 'model',
    parameters: 'domain, offset=0, limit=None, order=None',
    readonly: true,
    run: (call) => {
      const domain = readDomain(call, call.values['domain'] ?? call.values['args'] ?? null);
      const ids = searchIds(call.environment, call.model, domain, call.values);
      return isTrue(call.values['count']) ? ids.length : ids;
    },
  },
  search_count: {
    owner,
    kind: 'model',
    parameters: 'domain, limit=None',
    readonly: true,
    run: (call) => {
      const { environment, model, values } = call;
      const domain = readDomain(call, values['domain'] ?? values['args'] ?? null);
      return countRows(environment, model, domain, values['limit'] ?? null);
    },
  },
  search_read: {
    owner,
    kind: 'model',
    parameters: 'domain=None, fields=None, offset=0, limit=None, order=None, **read_kwargs',
    readonly: true,
    run: (call) => {
      const domain = call.values['domain'] ?? [];
      const isEmpty = isObject(domain) && Object.keys(domain).length === 0;
      const ids = searchIds(call.environment, call.model, isEmpty ? [] : domain, call.values);
      return readRows(call.environment, call.model, ids, call.values['fields'] ?? null, isClassic(call));
    },
  },
  search_fetch: {
    owner,
    kind: 'model',
    parameters: 'domain, field_names, offset=0, limit=None, order=None',
    readonly: true,
    run: ({ environment, model, values }) => searchIds(environment, model, values['domain'] ?? [], values),
  },
  read: {
    owner,
    kind: 'record',
    parameters: "fields=None, load='_classic_read'",
    readonly: true,
    run: (call) =>
      readRows(call.environment, call.model, call.ids, call.values['fields'] ?? null, isClassic(call)),
  },
  name_search: {
    owner,
    kind: 'model',
    parameters: "name='', args=None, operator='ilike', limit=100",
    readonly: true,
    run: ({ environment, model, values }) => {
      const { limit = null, operator = null, name = null } = values;
      const where = compileNamed(environment, model, operator ?? 'ilike', name || '');
      const ids = searchIds(environment, model, values['args'] ?? values['domain'] ?? [], { limit, where });
      return ids.map((id) => [
        id,
        nameRow(environment, model, environment.store.get(model.name, id) ?? { id }),
      ]);
    },
  },
  name_get: {
    owner,
    kind: 'record',
    parameters: '',
    run: ({ environment, model, ids }) =>
      ids.map((id) => {
        const row = environment.store.get(model.name, toNumber(id) ?? -1);
        if (!row) throw recordMissing(environment, model, toNumber(id) ?? -1);
        return [id, nameRow(environment, model, row)];
      }),
  },
  exists: {
    owner,
    kind: 'record',
    parameters: '',
    run: ({ environment, model, ids }) =>
      ids.filter((id) => environment.store.get(model.name, toNumber(id) ?? -1)),
  },
  fetch: { owner, kind: 'record', parameters: 'field_names', run: () => undefined },
  browse: { owner, kind: 'record', parameters: 'ids=()', run: ({ model }) => `${model.name}()` },
  sudo: {
    owner,
    kind: 'record',
    parameters: 'flag=True',
    run: ({ environment, model, ids }) => showRecordset(environment, model.name, ids),
  },
  mapped: {
    owner,
    kind: 'record',
    parameters: 'func',
    run: ({ environment, model, ids, values }) => {
      const field = model.fields.get(String(values['func']));
      if (!field) throw keyError(String(values['func']));
      const found = ids.flatMap((id) => {
        const row = environment.store.get(model.name, toNumber(id) ?? -1);
        return row
          ? [
              isToMany(field)
                ? showField(environment, model, row, field, false)
                : getValue(environment, model, row, field),
            ]
          : [];
      });
      return field.relation
        ? showRecordset(
            environment,
            field.relation,
            [...new Set(found.flat())].filter((id) => id !== null),
          )
        : found;
    },
  },
  filtered: {
    owner,
    kind: 'record',
    parameters: 'func',
    run: ({ environment, model, ids, values }) => {
      const field = model.fields.get(String(values['func']));
      if (!field) throw keyError(String(values['func']));
      const found = ids.filter((id) => {
        const row = environment.store.get(model.name, toNumber(id) ?? -1);
        const value = row && getValue(environment, model, row, field);
        return isTrue(value);
      });
      return showRecordset(environment, model.name, found);
    },
  },
  filtered_domain: {
    owner,
    kind: 'record',
    parameters: 'domain',
    run: (call) =>
      showRecordset(call.environment, call.model.name, keepMatching(call, readList(call.values['domain']))),
  },
  sorted: {
    owner,
    kind: 'record',
    parameters: 'key=None, reverse=False',
    run: (call) => {
      const sorted = sortByField(call) ?? searchAmong(call, [], call.values['key'] ?? null);
      return showRecordset(
        call.environment,
        call.model.name,
        call.values['reverse'] === true ? sorted.toReversed() : sorted,
      );
    },
  },
  with_context: {
    owner,
    kind: 'record',
    parameters: '*args, **kwargs',
    run: ({ environment, model, ids }) => showRecordset(environment, model.name, ids),
  },
};

/**
 * Sorts by a field that is no column, as Python does with the field's values. Null: the key is a column or no field.
 */
function sortByField({ environment, model, ids, values }: Call): Json[] | null {
  const field = model.fields.get(String(values['key']));
  if (field === undefined || isSortable(environment, model, field)) return null;
  const read = (id: Json) => {
    const row = environment.store.get(model.name, id as number) ?? { id: id as number };
    return getValue(environment, model, row, field) as number | string;
  };
  return ids
    .map((id) => ({ id, value: read(id) }))
    .toSorted((one, other) => Number(one.value > other.value) - Number(one.value < other.value))
    .map(({ id }) => id);
}

/** The ids of the call that match the domain. */
function keepMatching(call: Call, domain: readonly Json[]): Json[] {
  const found = new Set<Json>(searchAmong(call, domain));
  return call.ids.filter((id) => found.has(id));
}

/** The ids of the call that match the domain, sorted by `order`; null: in the order of the model. */
function searchAmong(
  { environment, model, ids }: Call,
  domain: readonly Json[],
  order: Json = null,
): number[] {
  const archived: Json[] = model.fields.has('active') ? [['active', 'in', [true, false]]] : [];
  return searchIds(environment, model, [['id', 'in', [...ids]], ...archived, ...domain], { order });
}

function readList(domain: Json | undefined): readonly Json[] {
  return Array.isArray(domain) ? domain : [];
}

/** Returns the domain of a method that requires one, and refuses null. */
function readDomain({ environment }: Call, domain: Json): Json {
  if (domain === null) throw environment.personality.texts.domainNotList(domain);
  return domain;
}

function isClassic(call: Call): boolean {
  // None in Python differs from an omitted argument.
  const { load = '_classic_read' } = call.values;
  return load === '_classic_read';
}
