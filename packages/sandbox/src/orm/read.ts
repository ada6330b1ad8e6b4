/** Reads records, with members in the requested order (docs/odoo-facts.md#read-result, docs/odoo-facts.md#values). */
import { nameType } from '../json/print-python.ts';
import { isObject, isTrue, type Json, type JsonObject, toNumber } from '../json/value.ts';
import { checkAccess, mayReadField } from './access.ts';
import { Fault, typeError } from './fault.ts';
import { isToMany } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import { sortIds } from './order.ts';
import type { Row } from './row.ts';
import { showValue } from './values.ts';

export function readRows(
  environment: Environment,
  model: Model,
  ids: readonly Json[],
  fieldNames: Json = null,
  namesShown = true,
): JsonObject[] {
  const fields = pickFields(environment, model, fieldNames);
  checkTexts(environment, model, ids);
  const known = ids.flatMap((id) => toKnownId(id));
  checkAccess(
    environment,
    model,
    'read',
    known.filter((id) => id > 0),
  );
  environment.store.reads.byIndex++;
  environment.store.reads.rows += known.length;
  return known.flatMap((id) => {
    const row = id === 0 ? { id: 0 } : environment.store.get(model.name, id);
    return row ? [showRow(environment, model, row, fields, namesShown)] : [];
  });
}

function showRow(
  environment: Environment,
  model: Model,
  row: Row,
  fields: readonly Field[],
  namesShown = true,
): JsonObject {
  const shown: Record<string, Json> = { id: row['id'] as number };
  for (const field of fields) {
    if (field.name === 'id') continue;
    // id 0 is a record without values, so its name is false too.
    shown[field.name] =
      row['id'] === 0 && field.name === 'display_name'
        ? false
        : showField(environment, model, row, field, namesShown);
  }
  return shown;
}

/** The value of a field as `read` returns it. Ids of related records come in the order of their model. */
export function showField(
  environment: Environment,
  model: Model,
  row: Row,
  field: Field,
  namesShown: boolean,
): Json {
  const value = showValue(environment, model, row, field, namesShown);
  if (!isToMany(field) || !Array.isArray(value)) return value;
  return sortIds(environment, environment.model(field.relation!), value as number[]);
}

export function pickFields(environment: Environment, model: Model, names: Json): Field[] {
  const number = toNumber(names);
  if (number !== undefined && number !== 0)
    throw typeError(`'${nameType(names)}' object is not iterable`).at('odoo/models.py', 'read');
  // As in Python, a string is a list of its characters, and an object a list of its keys.
  const asked = typeof names === 'string' ? [...names] : isObject(names) ? Object.keys(names) : names;
  if (!isTrue(asked ?? null)) {
    return [...model.fields.values()].filter((field) => mayReadField(environment, field));
  }
  if (!Array.isArray(asked)) throw typeError(`'${nameType(asked)}' object is not iterable`);
  const fields = asked.map((name: Json) => {
    if (Array.isArray(name) || isObject(name)) throw typeError(`unhashable type: '${nameType(name)}'`);
    const field = model.fields.get(String(name));
    if (!field) throw environment.personality.texts.unknownFieldRead(model.name, String(name));
    return field;
  });
  const hidden = fields.filter((field) => !mayReadField(environment, field));
  if (hidden.length > 0) {
    const names = hidden.map((field) => field.name);
    const group = environment.personality.groupNames[hidden[0]?.groups ?? ''] ?? '';
    throw environment.personality.texts.fieldGroups(model, names, environment.uid, group);
  }
  return fields;
}

// PostgreSQL converts a string that looks like a number.
function checkTexts(environment: Environment, model: Model, ids: readonly Json[]): void {
  const { idIsText } = environment.personality.texts;
  for (const id of ids) {
    if (Array.isArray(id) || isObject(id)) throw environment.personality.texts.idIsNested(id);
    if (typeof id !== 'string') continue;
    if (idIsText) throw idIsText(id);
    if (/^\s*-?\d+\s*$/.test(id)) continue;
    const table = model.name.replaceAll('.', '_');
    const shown = `'${ids.slice(0, 2).map(String).join("', '")}'`;
    throw new Fault(
      'psycopg2.errors.InvalidTextRepresentation',
      `invalid input syntax for type integer: "${id}"\nLINE 1: ..." FROM "${table}" WHERE "${table}"."id" IN (${shown}, ...\n${' '.repeat(61)}^\n`,
    );
  }
}

function toKnownId(id: Json): number[] {
  const number = toNumber(id);
  return number === undefined ? (id === false ? [0] : []) : [number];
}
