/** Methods of Odoo's web client, which read records by a nested specification. */
import { isObject, type Json, type JsonObject, toNumber } from '../../json/value.ts';
import { checkAccess } from '../access.ts';
import { compileNamed } from '../compile-comparison.ts';
import { isToMany } from '../field.ts';
import type { Call, Environment, Method, Model } from '../model.ts';
import { pickFields, readRows, showField } from '../read.ts';
import type { Row } from '../row.ts';
import { countRows, searchIds } from '../search.ts';
import { getValue } from '../values.ts';
import { createRow, writeRows } from '../write.ts';
import { listIds } from './record-methods.ts';

const owner = 'Base';

export const webMethods: Readonly<Record<string, Method>> = {
  web_read: {
    owner,
    kind: 'record',
    parameters: 'specification',
    readonly: true,
    run: (call) => readNested(call.environment, call.model, listIds(call), call.values['specification']),
  },
  web_search_read: {
    owner,
    kind: 'model',
    parameters: 'domain, specification, offset=0, limit=None, order=None, count_limit=None',
    readonly: true,
    run: (call) => {
      const { environment, model, values } = call;
      const ids = searchIds(environment, model, values['domain'] ?? [], values);
      const length = countRows(environment, model, values['domain'] ?? [], values['count_limit'] ?? null);
      // 16 has no specifications: it returns records like `read`.
      const isFlat = !('specification' in values);
      const records = isFlat
        ? readRows(environment, model, ids, values['fields'] ?? null)
        : readNested(environment, model, ids, values['specification']);
      return { length, records };
    },
  },
  web_save: {
    owner,
    kind: 'record',
    parameters: 'vals, specification, next_id=None',
    run: (call) => {
      const ids = saveOne(call, listIds(call), call.values['vals'] ?? {});
      const next = toNumber(call.values['next_id']);
      return readNested(
        call.environment,
        call.model,
        next === undefined ? ids : [next],
        call.values['specification'],
      );
    },
  },
  web_save_multi: {
    owner,
    kind: 'record',
    parameters: 'vals_list, specification',
    run: (call) => {
      const ids = listIds(call);
      for (const [index, values] of (call.values['vals_list'] as readonly Json[]).entries())
        saveOne(call, ids.slice(index, index + 1), values);
      return readNested(call.environment, call.model, ids, call.values['specification']);
    },
  },
  web_name_search: {
    owner,
    kind: 'model',
    parameters: "name, specification, domain=None, operator='ilike', limit=100",
    readonly: true,
    run: ({ environment, model, values }) => {
      const { limit = null, operator = null, name = null } = values;
      const where = compileNamed(environment, model, operator ?? 'ilike', name || '');
      const ids = searchIds(environment, model, values['domain'] ?? [], { limit, where });
      return readNested(environment, model, ids, values['specification']);
    },
  },
  web_resequence: {
    owner,
    kind: 'record',
    parameters: "specification, field_name='sequence', offset=0",
    run: (call) => {
      const ids = listIds(call);
      const name = String(call.values['field_name']);
      const offset = toNumber(call.values['offset']) ?? 0;
      for (const [index, id] of ids.entries())
        writeRows(call.environment, call.model, [id], { [name]: index + offset });
      return readNested(call.environment, call.model, ids, call.values['specification']);
    },
  },
};

function saveOne(call: Call, ids: readonly number[], values: Json): readonly number[] {
  if (ids.length === 0) return [createRow(call.environment, call.model, values)];
  writeRows(call.environment, call.model, ids, values);
  return ids;
}

function readNested(
  environment: Environment,
  model: Model,
  ids: readonly number[],
  specification: Json | undefined,
): JsonObject[] {
  const wanted = isObject(specification) ? specification : {};
  const names = Object.keys(wanted);
  const fields = names.length > 0 ? pickFields(environment, model, names) : [];
  checkAccess(environment, model, 'read', ids);
  return ids.flatMap((id) => {
    const row = environment.store.get(model.name, id);
    if (!row) return [];
    const shown: Record<string, Json> = { id };
    for (const field of fields) {
      const inner = wanted[field.name];
      const nested = field.relation && isObject(inner) && isObject(inner['fields']) ? inner : undefined;
      shown[field.name] = nested
        ? readLinked(environment, model, row, field.name, nested)
        : showField(environment, model, row, field, false);
    }
    return [shown];
  });
}

function readLinked(
  environment: Environment,
  model: Model,
  row: Row,
  name: string,
  nested: JsonObject,
): Json {
  const field = model.fields.get(name)!;
  const relation = environment.model(field.relation!);
  const value = getValue(environment, model, row, field);
  const inner = environment.withContext(
    isObject(nested['context']) ? { ...environment.context, ...nested['context'] } : undefined,
  );
  if (!isToMany(field))
    return value === null
      ? false
      : (readNested(inner.sudo(), relation, [value as number], nested['fields'])[0] ?? false);
  const own = showField(inner, model, row, field, false) as number[];
  // If an order is given, records that are archived, or that the user may not read, are left out.
  const shown = nested['order']
    ? searchIds(inner, relation, [['id', 'in', own]], { order: nested['order'] })
    : own;
  return readNested(
    inner,
    relation,
    shown.slice(0, toNumber(nested['limit']) ?? undefined),
    nested['fields'],
  );
}
