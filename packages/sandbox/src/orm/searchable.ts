/** Determines which fields a domain can compare, and by which fields records can be sorted. */
import { isStored, isToMany } from './field.ts';
import type { Environment, Field, Model } from './model.ts';

export function isSearchable(environment: Environment, model: Model, field: Field): boolean {
  if (field.searchable !== undefined) return field.searchable;
  if (isColumn(field)) return true;
  if (field.name === 'display_name') return environment.personality.searchesDisplayNames;
  const related = findRelated(environment, model, field);
  return related !== undefined && isSearchable(environment, ...related);
}

/** Up to 17, a field of a linked record is sortable only if the model inherits from that record. */
export function isSortable(environment: Environment, model: Model, field: Field): boolean {
  if (field.sortable !== undefined) return field.sortable;
  if (isColumn(field)) return !isToMany(field) && field.type !== 'binary';
  const isInherited =
    model.inherits !== undefined && field.related?.startsWith(`${model.inherits}.`) === true;
  if (!isInherited && !environment.personality.sortsRelated) return false;
  const related = findRelated(environment, model, field);
  return related !== undefined && isSortable(environment, ...related);
}

export function isColumn(field: Field): boolean {
  return field.store ?? (isStored(field) || field.storedFrom !== undefined);
}

/** The field of the linked record that a related field shows. */
function findRelated(environment: Environment, model: Model, field: Field): [Model, Field] | undefined {
  const [link = '', name = ''] = field.related?.split('.') ?? [];
  const relation = model.fields.get(link)?.relation;
  const target = relation === undefined ? undefined : environment.model(relation);
  const shown = target?.fields.get(name);
  return target && shown ? [target, shown] : undefined;
}
