/** Decides about the fields that a call names and returns, as far as types are known. */
export { type Known, NOTHING_KNOWN } from '../check-fields.ts';
export {
  type AllowedFields,
  decideColumns,
  decideFields,
  decideNamedPaths,
  decideOrder,
  decidePaths,
  type FieldsDecision,
  type FieldsRequest,
  finish,
  hideCredentials,
  type Lacking,
  limitsColumns,
  listAllowedFields,
  type Steps,
} from '../decide-fields.ts';
export { FieldRules } from '../field-rules.ts';
