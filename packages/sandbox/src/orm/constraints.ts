/** The constraints of PostgreSQL and of the models: NOT NULL, foreign keys, unique, check, Python constraints. */
import { isTrue, type Json } from '../json/value.ts';
import { isStored, isToMany } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';
import { getValue } from './values.ts';

export function checkRow(environment: Environment, model: Model, row: Row): void {
  const { texts } = environment.personality;
  const table = model.name.replaceAll('.', '_');
  const hasLanguage = isTrue(environment.context['lang']);
  for (const field of model.fields.values()) {
    const value = row[field.name] ?? null;
    if (field.required && value === null && isStored(field) && !isToMany(field)) {
      throw texts.missingValue(model, field.name, field.string);
    }
    if (field.type !== 'many2one' && field.type !== 'many2many') continue;
    const linked = value === null ? [] : ([value].flat() as number[]);
    if (linked.some((id) => !environment.store.get(field.relation!, id)))
      throw texts.foreignKey(model, field.name, field.string);
  }
  for (const check of model.checks ?? [])
    if (!check.holds(row)) throw texts.constraint(check.message, `${table}_check_name`, hasLanguage);
  for (const rule of model.unique ?? [])
    if (hasTwin(environment, model, row, rule.fields))
      throw texts.constraint(rule.message, `${table}_${rule.fields.join('_')}_key`, hasLanguage);
  model.validate?.(environment, row);
}

/**
 * Before a row is deleted, rows that refer to it prevent the deletion, are deleted too, or lose the reference,
 * depending on `ondelete`. Messages and activities are deleted with their record.
 */
export function checkReferences(environment: Environment, model: Model, id: number): void {
  for (const other of environment.models.values()) {
    for (const field of other.fields.values()) {
      if (field.relation !== model.name || field.type === 'one2many' || !isStored(field)) continue;
      for (const row of environment.store.table(other.name).where(field.name, id))
        releaseReference(environment, other, field, row, id);
    }
  }
  for (const field of model.fields.values()) {
    if (field.inverseModel === undefined) continue;
    const owned = getValue(environment, model, { id }, field) as number[];
    for (const ownedId of owned) environment.store.put(field.relation!, ownedId, undefined);
  }
}

function releaseReference(environment: Environment, other: Model, field: Field, row: Row, id: number): void {
  const value = row[field.name] as Json | undefined;
  const rowId = row['id'] as number;
  if (field.type === 'many2many') {
    const links = (value as number[]).filter((link) => link !== id);
    environment.store.put(other.name, rowId, { ...row, [field.name]: links });
    return;
  }
  if (field.ondelete === 'cascade') environment.store.put(other.name, rowId, undefined);
  else if (field.ondelete === 'restrict' || field.required) {
    throw environment.personality.texts.foreignKey(other, field.name, field.string);
  } else environment.store.put(other.name, rowId, { ...row, [field.name]: null });
}

function hasTwin(environment: Environment, model: Model, row: Row, fields: readonly string[]): boolean {
  if (fields.some((name) => (row[name] ?? null) === null)) return false;
  const [first = ''] = fields;
  return environment.store
    .table(model.name)
    .where(first, row[first] as Json)
    .some((other) => other['id'] !== row['id'] && fields.every((name) => other[name] === row[name]));
}
