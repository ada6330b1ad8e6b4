/** Values as Odoo prints them and as other programs expect them, by types of fields. */
export {
  countNames,
  FIELD_ATTRIBUTES,
  type FieldType,
  type FieldTypes,
  type LearntTypes,
  readFieldTypes,
} from './field-types.ts';
export { type NamedFields, readNamedFields } from './named-fields.ts';
export {
  BEFORE_BYTES,
  findNonNumbers,
  ListedNonNumbers,
  listNonNumbers,
  mayHaveNonNumber,
  type NonNumber,
  NULL,
  replaceNonNumbers,
  VALUE_BYTES,
} from './non-numbers.ts';
export { findResultForm, type RecordShape, type ResultForm } from './record-shape.ts';
export { ResultConverter, type UnknownField } from './result-converter.ts';
export { convertWrittenValues, type Parts, type WrittenValues } from './written-values.ts';
