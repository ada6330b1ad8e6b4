/** Constructors of fields for the model files, and properties of field types. */
import type { Field, FieldOptions, FieldSpec, FieldType } from './model.ts';

const scalar =
  (type: FieldType) =>
  (string: string, options: FieldOptions = {}): FieldSpec => ({ type, string, ...options });

export const char = scalar('char');
export const text = scalar('text');
export const html = scalar('html');
export const integer = scalar('integer');
export const float = scalar('float');
export const monetary = scalar('monetary');
export const boolean = scalar('boolean');
export const date = scalar('date');
export const datetime = scalar('datetime');
export const binary = scalar('binary');
export const reference = scalar('reference');
/** A field with the id of a record whose model is in another field. */
export const many2oneReference = scalar('many2one_reference');
export const json = scalar('json');
export const properties = scalar('properties');

export const selection = (
  string: string,
  choices: readonly (readonly [string, string])[],
  options: FieldOptions = {},
): FieldSpec => ({ type: 'selection', string, selection: choices, ...options });

export const many2one = (string: string, relation: string, options: FieldOptions = {}): FieldSpec => ({
  type: 'many2one',
  string,
  relation,
  ...options,
});

export const many2many = (string: string, relation: string, options: FieldOptions = {}): FieldSpec => ({
  type: 'many2many',
  string,
  relation,
  ...options,
});

export const one2many = (
  string: string,
  relation: string,
  inverse: string,
  options: FieldOptions = {},
): FieldSpec => ({
  type: 'one2many',
  string,
  relation,
  inverse,
  copy: false,
  ...options,
});

export const isToMany = (field: Field): boolean => field.type === 'one2many' || field.type === 'many2many';
export const isText = (field: Field): boolean => ['char', 'text', 'html'].includes(field.type);
export const isNumeric = (field: Field): boolean => ['integer', 'float', 'monetary'].includes(field.type);
/** Whether the field is a column of the table. Only columns have PostgreSQL constraints. */
export const isStored = (field: Field): boolean => !field.compute && !field.related;
