/** Values of fields in the ORM's form, and in the form that `read` returns (docs/odoo-facts.md#values). */
import { Binary } from '../json/binary.ts';
import { Float, isTrue, type Json } from '../json/value.ts';
import { isNumeric, isToMany } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';

/**
 * The value of a field of a row; null if it is empty. Floats are plain numbers here. Times have whole seconds, as Odoo
 * shows them.
 */
export function getValue(environment: Environment, model: Model, row: Row, field: Field): Json {
  const value = readStored(environment, model, row, field);
  return field.type === 'datetime' && typeof value === 'string' ? value.slice(0, 19) : value;
}

/**
 * The stored value of a field: like `getValue`, but times have the microseconds by which domains and orders compare.
 */
export function readStored(environment: Environment, model: Model, row: Row, field: Field): Json {
  if (field.name === 'display_name') return nameRow(environment, model, row);
  if (field.compute) {
    const stored = field.storedFrom === undefined ? undefined : row[field.name];
    return stored === undefined ? field.compute(environment, row) : stored;
  }
  if (field.related) return readRelated(environment, model, row, field.related);
  if (field.type === 'one2many') return findInverse(environment, model, field, row['id'] as number);
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

/** `[id, name]`, as read returns a many2one. Like Odoo, reads the name without access control. */
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
  if (value === null && field.type === 'many2one_reference') return 0;
  if (value === null) return field.type === 'properties' ? [] : false;
  if (field.type === 'many2one' && namesShown)
    return showReference(environment, field.relation!, value as number);
  if (isToMany(field)) return filterActive(environment, field, value as number[]);
  if (field.type === 'binary' && isTrue(environment.context['bin_size'])) return printSize(value);
  return value;
}

// As in Odoo, archived records in x2many fields appear only with active_test=False.
function filterActive(environment: Environment, field: Field, ids: readonly number[]): readonly number[] {
  const active = environment.model(field.relation!).fields.has('active') && hidesArchived(environment);
  return active ? ids.filter((id) => environment.store.get(field.relation!, id)?.['active'] !== false) : ids;
}

/** Whether the context leaves archived records out. */
export function hidesArchived({ context }: Environment): boolean {
  return !('active_test' in context) || isTrue(context['active_test']);
}

function findInverse(environment: Environment, model: Model, field: Field, id: number): number[] {
  const { inverseModel } = field;
  const lines = environment.store.table(field.relation!).where(field.inverse!, id);
  return lines
    .filter((row) => inverseModel === undefined || row[inverseModel] === model.name)
    .map((row) => row['id'] as number);
}

function printSize(content: Json): string {
  let size = content instanceof Binary ? content.size : Buffer.from(String(content), 'base64').length;
  const units = ['bytes', 'Kb', 'Mb', 'Gb'];
  while (size >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return `${size.toFixed(2)} ${units[0]}`;
}
