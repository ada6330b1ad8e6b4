/**
 * The types of records. A model is described by its fields as Odoo's `fields_get` reports them. The types of what is
 * read and written follow from that. `erp-proxy types` writes such descriptions. Types only.
 */
import type { Json } from './options.ts';

/** One field of a model, e.g. `{ type: 'many2one'; relation: 'res.country'; required: true }`. */
export interface FieldSpec {
  /** Odoo's type of the field. */
  type: string;
  /** True if the field is never empty. */
  required?: boolean;
  /** True if the field cannot be written. */
  readonly?: boolean;
  /** The model that a relation leads to. */
  relation?: string;
  /** The values of a selection, as a union. */
  values?: string;
}

/** The models of a client without types of its own: every model and every field exists. */
export interface AnyModels {
  [model: string]: { [field: string]: { type: 'any' } };
}

export type ModelName<Models> = keyof Models & string;

export type FieldName<Models, Name extends keyof Models> = keyof Models[Name] & string;

/** A record with all fields, as Odoo returns it. */
export type Read<Models, Name extends keyof Models> = {
  [Field in keyof Models[Name]]: ReadValue<Models[Name][Field]>;
};

/**
 * The values for a new record. No member is required: Odoo does not report which required fields have a default.
 */
export type Create<Models, Name extends keyof Models> = Writable<Models, Name>;

/** The values for a change of records. */
export type Update<Models, Name extends keyof Models> = Writable<Models, Name>;

/** A record with the fields that were asked for and its id; with all fields if there is no list. */
export type Row<Models, Name extends keyof Models, Fields> = Fields extends readonly []
  ? Read<Models, Name>
  : Fields extends readonly (infer Field)[]
    ? number extends Fields['length']
      ? // A list whose members are only known at run time.
        Partial<Read<Models, Name>> & { id: number }
      : Picked<Models[Name], Field>
    : Read<Models, Name>;

/** A change of a one2many or many2many field. Odoo ignores ids that are not in a command. */
export type X2manyCommand<Models, Relation> =
  /** Creates a record and adds it. */
  | readonly [0, 0 | string, RelatedValues<Models, Relation>]
  /** Changes a record of the field. */
  | readonly [1, number, RelatedValues<Models, Relation>]
  /** Deletes a record of the field. */
  | readonly [2, number, 0?]
  /** Removes a record from the field without deleting it. */
  | readonly [3, number, 0?]
  /** Adds an existing record. */
  | readonly [4, number, 0?]
  /** Removes all records. */
  | readonly [5, 0?, 0?]
  /** Replaces all records. */
  | readonly [6, 0, readonly number[]];

/** What `describe()` returns for a field. Odoo reports more members, which differ by version. */
export interface FieldInfo {
  type: string;
  string: string;
  required: boolean;
  readonly: boolean;
  help?: string;
  relation?: string;
  relation_field?: string;
  selection?: [value: string, label: string][];
  store?: boolean;
  sortable?: boolean;
  searchable?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the other members differ by version
  [attribute: string]: any;
}

type Picked<Fields, Field> = string extends keyof Fields
  ? // biome-ignore lint/suspicious/noExplicitAny: nothing is known about the fields
    { [Name in (Field & string) | 'id']: Name extends 'id' ? number : any }
  : { [Name in keyof Fields as Name extends Field | 'id' ? Name : never]: ReadValue<Fields[Name]> };

type ReadValue<Field> = Field extends { type: keyof AlwaysSet }
  ? AlwaysSet[Field['type']]
  : FilledValue<Field> | (Field extends { required: true } ? never : false);

/** Types whose empty value is not `false`. */
interface AlwaysSet {
  boolean: boolean;
  integer: number;
  float: number;
  monetary: number;
  one2many: number[];
  many2many: number[];
  json: Json;
  properties: Json;
  properties_definition: Json;
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known about the field
  any: any;
}

type FilledValue<Field> = Field extends { values: infer Values }
  ? Values
  : Field extends { type: 'many2one' }
    ? [id: number, name: string]
    : Field extends { type: 'many2one_reference' }
      ? number
      : Field extends { type: TextType | 'date' | 'datetime' | 'binary' | 'selection' | 'reference' }
        ? string
        : Json;

export type TextType = 'char' | 'text' | 'html';

type Writable<Models, Name extends keyof Models> = {
  -readonly [Field in keyof Models[Name] as Models[Name][Field] extends { readonly: true }
    ? never
    : Field extends 'id'
      ? never
      : Field]?: WriteValue<Models, Models[Name][Field]> | undefined;
};

type WriteValue<Models, Field> = Field extends { type: 'one2many' | 'many2many' }
  ? readonly X2manyCommand<Models, RelationOf<Field>>[]
  : Field extends { type: 'many2one' }
    ? number | EmptyValue<Field>
    : Field extends { type: keyof AlwaysSet }
      ? AlwaysSet[Field['type']]
      : FilledValue<Field> | EmptyValue<Field>;

type EmptyValue<Field> = Field extends { required: true } ? never : false | null;

type RelationOf<Field> = Field extends { relation: infer Relation } ? Relation : string;

type RelatedValues<Models, Relation> = Relation extends keyof Models
  ? Writable<Models, Relation>
  : { readonly [field: string]: unknown };
