/** The fields that the arguments of a call name, and the fields whose values the named fields show. */

export { type ComputedField, findComputedField, listShownAnywhere } from './computed-fields.ts';
export { COMPUTED_FIELDS } from './computed-fields-table.ts';
export { FIELD_METHODS, findFieldMethod } from './field-methods.ts';
export {
  findParentField,
  INHERITED_MODELS,
  isSameAsName,
  listNameFields,
  listSameFields,
  listSearchedFields,
  listShownFields,
  NAME_SEARCH,
  PARENTS,
  SPECIAL_NAME_MODELS,
  showsAnyName,
  showsInName,
} from './field-sources.ts';
export {
  type ArgumentPlace,
  type FieldClause,
  type FieldScope,
  type FieldUse,
  type FieldUses,
  listFieldUses,
  NO_FIELD_USES,
  namesReadFields,
  type Tail,
  takesQuery,
  type UnnamedFields,
} from './field-uses.ts';
export { findModelOrder, MODEL_ORDERS_ARGUMENTS, type ModelOrders, readModelOrders } from './model-orders.ts';
export { listCompared, listSearchedElsewhere } from './name-searches.ts';
