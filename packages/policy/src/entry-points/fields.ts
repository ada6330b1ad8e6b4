/** Decides about the fields that a call names and returns, as far as types are known. */
export type { Known } from '../check-fields.ts';
export {
  type AllowedFields,
  decideFields,
  decideNamedPaths,
  decideOrder,
  decidePaths,
  type FieldsRequest,
  finish,
  type Lacking,
  listAllowedFields,
  type Steps,
} from '../decide-fields.ts';
export { FieldRules } from '../field-rules.ts';
