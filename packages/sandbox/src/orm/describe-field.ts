/** Describes fields for fields_get and the views. */
import type { Json, JsonObject } from '../json/value.ts';
import { isNumeric, isText } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import { isColumn, isSearchable, isSortable } from './searchable.ts';

export function describeFields(
  environment: Environment,
  model: Model,
  attributes: readonly Json[] = [],
): JsonObject {
  return Object.fromEntries(
    [...model.fields.values()].map((field) => [
      field.name,
      describeField(environment, model, field, attributes),
    ]),
  );
}

/** Lists the attributes in alphabetical order, like Odoo. The version's personality has the names that differ. */
export function describeField(
  environment: Environment,
  model: Model,
  field: Field,
  attributes: readonly Json[],
): JsonObject {
  const { aggregator, hasGroupable, hasHierarchy } = environment.personality.fieldAttributes;
  const all: Record<string, Json | undefined> = {
    [aggregator]: isNumeric(field) && field.name !== 'id' ? 'sum' : undefined,
    allow_hierachy_operators:
      hasHierarchy && field.relation ? environment.model(field.relation).fields.has('parent_id') : undefined,
    change_default: false,
    company_dependent: false,
    context: field.relation ? {} : undefined,
    default_export_compatible: false,
    depends: listDependencies(model, field),
    domain: field.relation ? [] : undefined,
    exportable: true,
    groupable: hasGroupable ? isColumn(field) && field.type !== 'one2many' : undefined,
    groups: field.groups,
    help: field.help,
    // Odoo marks fields that a customer has added; their names begin with `x_`.
    manual: field.name.startsWith('x_'),
    name: field.name,
    readonly: field.readonly ?? field.compute !== undefined,
    related: environment.personality.version < 15 ? field.related?.split('.') : field.related,
    relation: field.relation,
    relation_field: field.inverse,
    required: field.required === true,
    searchable: isSearchable(environment, model, field),
    selection: field.selection,
    size: field.size,
    sortable: isSortable(environment, model, field),
    store: isColumn(field),
    string: field.string,
    translate: isText(field) ? field.translate === true : undefined,
    trim: field.type === 'char' ? true : undefined,
    type: field.type,
  };
  const shown = Object.entries(all).filter(
    ([name, value]) => value !== undefined && (attributes.length === 0 || attributes.includes(name)),
  );
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;
}

function listDependencies(model: Model, field: Field): string[] {
  if (field.name === 'display_name') {
    const name = model.recName ?? 'name';
    return model.fields.has(name) ? [name] : [];
  }
  return [...(field.related === undefined ? (field.depends ?? field.storedFrom ?? []) : [field.related])];
}
