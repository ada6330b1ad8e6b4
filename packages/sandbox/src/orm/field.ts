/** What a field is, and short constructors for the model files. Knows neither rows nor requests. */
import type { Json } from '../json/value.ts';
import type { Environment } from './environment.ts';

export type FieldType =
  | 'char'
  | 'text'
  | 'html'
  | 'integer'
  | 'float'
  | 'monetary'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'selection'
  | 'many2one'
  | 'one2many'
  | 'many2many'
  | 'binary'
  | 'reference'
  | 'json'
  | 'properties';

export type Row = Readonly<Record<string, Json>>;

export interface FieldOptions {
  readonly required?: boolean;
  readonly readonly?: boolean;
  readonly relation?: string;
  /** one2many: the many2one of the other model that points here. */
  readonly inverse?: string;
  readonly selection?: readonly (readonly [string, string])[];
  readonly default?: Json | ((environment: Environment) => Json);
  /** The value is worked out at each read and never stored. */
  readonly compute?: (environment: Environment, row: Row) => Json;
  /** The value is that of a field of a linked record, `product_tmpl_id.name`, and writing goes there. */
  readonly related?: `${string}.${string}`;
  /** Group that a user needs to see the field. */
  readonly groups?: string;
  readonly copy?: false;
  readonly ondelete?: 'restrict' | 'set null' | 'cascade';
  /** false: only Odoo's own interface may search or sort by it. */
  readonly searchable?: boolean;
  readonly translate?: boolean;
  readonly help?: string;
  readonly size?: number;
}

export interface Field extends FieldOptions {
  readonly name: string;
  readonly type: FieldType;
  readonly string: string;
}

export type FieldSpec = FieldOptions & { readonly type: FieldType; readonly string: string };

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
export const isNumeric = (field: Field): boolean => ['integer', 'float', 'monetary'].includes(field.type);
/** A column of the table: PostgreSQL constraints hold for these only. */
export const isStored = (field: Field): boolean => !field.compute && !field.related;
