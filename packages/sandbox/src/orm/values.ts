/** Values of fields: as the ORM holds them, as `read` shows them, and how the caller's become ours (FACTS 7.3). */
import { printPython } from '../json/printPython.ts';
import { Float, type Json, toNumber } from '../json/value.ts';
import type { Environment } from './environment.ts';
import { Fault, valueError } from './fault.ts';
import { type Field, isNumeric, isToMany, type Row } from './field.ts';
import type { Model } from './model.ts';

/** The value of a field of a row; null where it is empty. Floats are plain numbers here. */
export function getValue(environment: Environment, model: Model, row: Row, field: Field): Json {
  if (field.name === 'display_name') return nameRow(environment, model, row);
  if (field.compute) return field.compute(environment, row);
  if (field.related) return readRelated(environment, model, row, field.related);
  if (field.type === 'one2many') return findInverse(environment, field, row['id'] as number);
  const value = row[field.name];
  if (value !== undefined && value !== null) return value;
  if (isToMany(field)) return [];
  if (field.type === 'boolean') return false;
  return isNumeric(field) ? 0 : null;
}

export function nameRow(environment: Environment, model: Model, row: Row): string {
  if (model.displayName) return model.displayName(environment, row);
  const value = row[model.recName ?? 'name'];
  return typeof value === 'string' ? value : `${model.name},${row['id']}`;
}

function readRelated(environment: Environment, model: Model, row: Row, path: string): Json {
  const [link = '', name = ''] = path.split('.');
  const target = environment.model(model.fields.get(link)!.relation!);
  const linked = environment.store.get(target.name, row[link] as number) ?? { id: 0 };
  return getValue(environment, target, linked, target.fields.get(name)!);
}

/** `[id, name]` as read shows a many2one; names are read past the caller's rights, as Odoo does. */
export function showReference(environment: Environment, modelName: string, id: number): Json {
  const model = environment.model(modelName);
  const row = environment.store.get(modelName, id);
  return row ? [id, nameRow(environment.sudo(), model, row)] : false;
}

export function showValue(
  environment: Environment,
  model: Model,
  row: Row,
  field: Field,
  namesShown: boolean,
): Json {
  const value = getValue(environment, model, row, field);
  if (field.type === 'float' || field.type === 'monetary') return new Float((value as number | null) ?? 0);
  if (value === null) return field.type === 'properties' ? [] : false;
  if (field.type === 'many2one' && namesShown)
    return showReference(environment, field.relation!, value as number);
  if (isToMany(field)) return filterActive(environment, field, value as number[]);
  if (field.type === 'binary' && environment.context['bin_size']) return printSize(value as string);
  return value;
}

/** What a caller wrote, as the ORM holds it; undefined for x2many, which take commands. */
export function parseValue(environment: Environment, model: Model, field: Field, value: Json): Json {
  if (isNumeric(field)) return parseNumber(field, value);
  if (field.type === 'boolean') return Boolean(toNumber(value) ?? value);
  if (value === null || value === false || value === '') return null;
  switch (field.type) {
    case 'selection':
      if (field.selection?.some(([key]) => key === value)) return value;
      throw valueError(`Wrong value for ${model.name}.${field.name}: ${printPython(value)}`);
    case 'many2one':
      return toNumber(Array.isArray(value) ? value[0] : value) ?? null;
    case 'date':
    case 'datetime':
      return parseDate(environment, field, String(value));
    case 'json':
    case 'properties':
      return value;
    default:
      return typeof value === 'string' ? value : (toNumber(value)?.toString() ?? printPython(value));
  }
}

function parseNumber(field: Field, value: Json): number {
  const parsed = toNumber(value) ?? Number(value || 0);
  if (Number.isNaN(parsed)) {
    throw valueError(
      field.type === 'integer'
        ? `invalid literal for int() with base 10: ${printPython(value)}`
        : `could not convert string to float: ${printPython(value)}`,
    );
  }
  return field.type === 'integer' ? Math.trunc(parsed) : parsed;
}

function parseDate(environment: Environment, field: Field, value: string): string {
  const length = field.type === 'date' ? 10 : 19;
  const format = field.type === 'date' ? '%Y-%m-%d' : '%Y-%m-%d %H:%M:%S';
  const whole = length === 19 && value.length === 10 ? `${value} 00:00:00` : value;
  if (!/^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?/.test(whole)) {
    throw valueError(`time data ${printPython(value)} does not match format '${format}'`);
  }
  const time = new Date(`${whole.slice(0, 19).replace(' ', 'T')}${length === 19 ? 'Z' : ''}`);
  if (Number.isNaN(time.getTime()) || !time.toISOString().startsWith(whole.slice(0, 10))) {
    throw environment.personality.texts.dateOutOfRange(value, format);
  }
  return whole.slice(0, length);
}

// x2many of archived records show only with active_test=False, as in Odoo.
function filterActive(environment: Environment, field: Field, ids: readonly number[]): readonly number[] {
  const active =
    environment.model(field.relation!).fields.has('active') && environment.context['active_test'] !== false;
  return active ? ids.filter((id) => environment.store.get(field.relation!, id)?.['active'] !== false) : ids;
}

function findInverse(environment: Environment, field: Field, id: number): number[] {
  const found: number[] = [];
  for (const [lineId, row] of environment.store.table(field.relation!))
    if (row[field.inverse!] === id) found.push(lineId);
  return found;
}

function printSize(base64: string): string {
  let size = Buffer.from(base64, 'base64').length;
  for (const unit of ['bytes', 'Kb', 'Mb']) {
    if (size < 1024 || unit === 'Mb') return `${size.toFixed(2)} ${unit}`;
    size /= 1024;
  }
  throw new Fault('builtins.ValueError', 'size');
}
