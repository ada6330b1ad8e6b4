/**
 * Create, write, unlink, copy: stores values, runs x2many commands, and checks every constraint
 * (docs/odoo-facts.md#constraints).
 */

import { nameType } from '../json/print-python.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { checkAccess } from './access.ts';
import { type RowWriter, runCommands } from './commands.ts';
import { checkReferences, checkRow } from './constraints.ts';
import { attributeError, Fault } from './fault.ts';
import { isStored, isToMany } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import { sortIds } from './order.ts';
import { parseValue } from './parse-value.ts';
import type { Row } from './row.ts';
import { computeStored, stampDependents } from './stamp-dependents.ts';
import { getValue } from './values.ts';

const writer: RowWriter = { create: createRow, write: writeRows, unlink: unlinkRows };

export function createRow(environment: Environment, model: Model, values: Json): number {
  if (!isObject(values)) throw attributeError(`'${nameType(values)}' object has no attribute 'get'`);
  checkAccess(environment, model, 'create');
  for (const name of Object.keys(values)) {
    if (!model.fields.has(name)) throw environment.personality.texts.unknownFieldCreate(model.name, name);
  }
  const given = model.beforeCreate?.(environment, values) ?? values;
  const id = environment.store.nextId(model.name);
  const stamp =
    model.logAccess === false ? {} : { create_uid: environment.uid, create_date: environment.startedAt };
  const row = { id, ...stamp, ...fillDefaults(environment, model, given) };
  saveRow(environment, model, row, given);
  model.afterCreate?.(environment, id);
  checkAccess(environment, model, 'create', [id]);
  return id;
}

export function writeRows(
  environment: Environment,
  model: Model,
  ids: readonly number[],
  values: Json,
): void {
  if (!isObject(values)) throw attributeError(`'${nameType(values)}' object has no attribute 'items'`);
  checkAccess(environment, model, 'write', ids);
  for (const name of Object.keys(values)) {
    if (!model.fields.has(name)) throw environment.personality.texts.unknownFieldWrite(model.name, name);
  }
  const given = model.beforeWrite?.(environment, values) ?? values;
  for (const id of ids) {
    const row = environment.store.get(model.name, id);
    if (!row) throw recordMissing(environment, model, id);
    saveRow(environment, model, row, given);
  }
}

export function unlinkRows(environment: Environment, model: Model, ids: readonly number[]): void {
  checkAccess(environment, model, 'unlink', ids);
  for (const id of ids) {
    const row = environment.store.get(model.name, id);
    if (!row) throw recordMissing(environment, model, id);
    if (!environment.isSuperuser) model.beforeUnlink?.(environment, row);
    checkReferences(environment, model, id);
    const names = [...model.fields.keys()];
    environment.store.put(model.name, id, undefined);
    stampDependents(environment, model, row, names, stampRow(environment, model), true);
  }
}

export function copyRow(environment: Environment, model: Model, id: number, overrides: Json): number {
  const row = environment.store.get(model.name, id);
  if (!row) throw recordMissing(environment, model, id);
  const values = copyValues(environment, model, row);
  const name = model.recName ?? 'name';
  const isRenamed = isObject(overrides) && name in overrides;
  if (!isRenamed && typeof values[name] === 'string') values[name] = `${values[name]} (copy)`;
  return createRow(environment, model, { ...values, ...(isObject(overrides) ? overrides : {}) });
}

/** The values for a copy of the row, with commands that copy its lines. */
function copyValues(environment: Environment, model: Model, row: Row): Record<string, Json> {
  const values: Record<string, Json> = {};
  for (const field of model.fields.values()) {
    if (field.copy === false || isMagic(field) || !isStored(field)) continue;
    if (field.type === 'one2many') values[field.name] = copyLines(environment, model, row, field);
    else if (row[field.name] !== undefined)
      values[field.name] = isToMany(field) ? [[6, 0, row[field.name] as Json]] : (row[field.name] as Json);
  }
  return values;
}

function copyLines(environment: Environment, model: Model, row: Row, field: Field): Json {
  const relation = environment.model(field.relation!);
  const ids = sortIds(environment, relation, getValue(environment, model, row, field) as number[]);
  return ids.map((id) => {
    const line = environment.store.get(relation.name, id) as Row;
    const { [field.inverse!]: _, ...values } = copyValues(environment, relation, line);
    return [0, 0, values];
  });
}

export function recordMissing(environment: Environment, model: Model, id: number): Fault {
  return new Fault(
    'odoo.exceptions.MissingError',
    `Record does not exist or has been deleted.\n(Record: ${model.name}(${id},), User: ${environment.uid})`,
  );
}

/** The defaults of omitted fields. */
export function fillDefaults(environment: Environment, model: Model, given: JsonObject): Row {
  const values: Record<string, Json> = {};
  for (const field of model.fields.values()) {
    if (field.name in given) continue;
    if (isToMany(field)) continue;
    const fromContext = environment.context[`default_${field.name}`];
    const value =
      fromContext === undefined || fromContext === null
        ? typeof field.default === 'function'
          ? field.default(environment)
          : field.default
        : parseValue(environment, model, field, fromContext);
    if (value !== undefined) values[field.name] = value;
  }
  return values;
}

function saveRow(environment: Environment, model: Model, before: Row, values: JsonObject): void {
  const row: Record<string, Json> = { ...before, ...stampRow(environment, model) };
  const commands: [Field, Json][] = [];
  const related: [Field, Json][] = [];
  for (const [name, value] of Object.entries(values)) {
    const field = model.fields.get(name) as Field;
    if (isMagic(field)) continue;
    if (field.related) related.push([field, value]);
    else if (isToMany(field)) commands.push([field, value]);
    else row[name] = parseValue(environment, model, field, value);
  }
  const id = row['id'] as number;
  environment.store.put(model.name, id, row);
  for (const [field, value] of related) writeRelated(environment, model, row, field, value);
  for (const [field, value] of commands) runCommands(writer, environment, model, id, field, value);
  const saved = computeStored(environment, model, environment.store.get(model.name, id) as Row);
  environment.store.put(model.name, id, saved);
  checkRow(environment, model, saved);
  const names = Object.keys(values);
  stampDependents(environment, model, saved, names, stampRow(environment, model));
  const moved = names.some(
    (name) => model.fields.get(name)?.type === 'many2one' && before[name] !== saved[name],
  );
  if (moved && before['id'] === id && 'write_date' in before)
    stampDependents(environment, model, before, names, stampRow(environment, model), true);
}

/** Odoo stamps each row with the start of the transaction that changed it. */
function stampRow(environment: Environment, model: Model): Row {
  if (model.logAccess === false) return {};
  return { write_uid: environment.uid, write_date: environment.startedAt };
}

function writeRelated(environment: Environment, model: Model, row: Row, field: Field, value: Json): void {
  const [link = '', name = ''] = field.related!.split('.');
  const target = environment.model(model.fields.get(link)!.relation!);
  writeRows(environment, target, [row[link] as number], { [name]: value });
}

function isMagic(field: Field): boolean {
  return [
    'id',
    'create_uid',
    'create_date',
    'write_uid',
    'write_date',
    'display_name',
    '__last_update',
  ].includes(field.name);
}
