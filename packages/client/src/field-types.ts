/**
 * The types of records. A model is described by its fields as Odoo's `fields_get` reports them. The types of values
 * that are read and written are derived from them. `erp-proxy types` writes such descriptions. Types only.
 */
import type { Json, ValueForm } from './options.ts';

/** One field of a model, e.g. `{ type: 'many2one'; relation: 'res.country'; required: true }`. */
export interface FieldSpec {
  /** Odoo's type of the field. */
  type: string;
  /** True if the field is never empty. */
  required?: boolean;
  /** True if the field is required and Odoo has no default for it, so that a new record needs a value. */
  noDefault?: boolean;
  /** True if the field cannot be written. */
  readonly?: boolean;
  /** The model that a relation leads to. */
  relation?: string;
  /** A union of the values of a selection, or of the models of a reference. */
  values?: string;
  /** `text` if the ids of the related records are texts, as those of `account.root` from Odoo 18 on. */
  ids?: 'text';
}

/** A date, e.g. `2026-10-21`. */
export type DateText = `${number}-${number}-${number}`;

/** A time in UTC: in Odoo's form, `2026-10-21 01:31:00`, or normalized, `2026-10-21T01:31:00Z`. */
export type TimeText<Form extends ValueForm = 'odoo'> = TimeTexts[Form];

interface TimeTexts {
  odoo: `${DateText} ${number}:${number}:${number}`;
  normalized: `${DateText}T${number}:${number}:${number}Z`;
}

/** A time with any zone. */
type ZonedTimeText = `${DateText}T${string}${'Z' | `${'+' | '-'}${number}:${number}`}`;

declare const METHODS: unique symbol;

/** Extended by the interface of a model whose methods are known, e.g. `Methods<'action_confirm'>`. */
export interface Methods<Names extends string> {
  readonly [METHODS]?: Names;
}

/** The name of a method: any text, with the known ones as suggestions in an editor. */
export type MethodName<Models, Name extends keyof Models> = typeof METHODS extends keyof Models[Name]
  ? NonNullable<Models[Name][typeof METHODS]> | (string & {})
  : string;

/** The models of a client whose user gives no types: every model and every field exists. */
export interface AnyModels {
  [model: string]: { [field: string]: { type: 'any' } };
}

export type ModelName<Models> = keyof Models & string;

export type FieldName<Models, Name extends keyof Models> = keyof Models[Name] & string;

/** A record with all fields, in the form in which it is read. */
export type Read<Models, Name extends keyof Models, Form extends ValueForm = 'odoo'> = {
  [Field in keyof Models[Name] as Field & string]: ReadValue<Models[Name][Field], Form>;
};

/** The values for a new record. Required fields without a default are required, as far as the models state them. */
export type Create<Models, Name extends keyof Models, Form extends ValueForm = 'odoo'> = Writable<
  Models,
  Name,
  Form
> & {
  -readonly [Field in keyof Models[Name] as Models[Name][Field] extends { noDefault: true }
    ? Field
    : never]-?: WriteValue<Models, Models[Name][Field], Form>;
};

/** The values with which records are updated. */
export type Update<Models, Name extends keyof Models, Form extends ValueForm = 'odoo'> = Writable<
  Models,
  Name,
  Form
>;

/** The fields that contain files. */
export type BinaryField<Models, Name extends keyof Models> = {
  [Field in FieldName<Models, Name>]: Models[Name][Field] extends { type: 'binary' | 'any' } ? Field : never;
}[FieldName<Models, Name>];

/** The values of a row of `upsert`: those of a new record, including all fields of `by`. */
export type UpsertRow<Models, Name extends keyof Models, Form extends ValueForm, By> = Create<
  Models,
  Name,
  Form
> & {
  -readonly [Field in keyof Models[Name] as string extends Field
    ? never
    : Field extends (By extends readonly (infer Each)[] ? Each : By)
      ? Field
      : never]-?: NonNullable<WriteValue<Models, Models[Name][Field], Form>>;
};

/** The fields by which `upsert` can find records: those whose written value can be compared in a domain. */
export type Comparable<Models, Name extends keyof Models, Form extends ValueForm> = {
  [Field in keyof Writable<Models, Name, Form> as Models[Name][Field] extends {
    type: 'one2many' | 'many2many' | (Form extends 'normalized' ? 'datetime' | 'reference' : never);
  }
    ? never
    : Field]: unknown;
};

/** A record with its id and the fields of the list; with all fields if there is no list. */
export type Row<
  Models,
  Name extends keyof Models,
  Fields,
  Form extends ValueForm = 'odoo',
> = Fields extends readonly []
  ? Read<Models, Name, Form>
  : Fields extends readonly (infer Field)[]
    ? number extends Fields['length']
      ? // The members of the list are only known at run time.
        Partial<Read<Models, Name, Form>> & { id: number }
      : Picked<Models[Name], Field, Form>
    : Read<Models, Name, Form>;

/** A command that changes a one2many or many2many field. Odoo ignores ids outside of commands. */
export type X2manyCommand<Models, Relation, Form extends ValueForm = 'odoo'> =
  /** Creates a record and adds it. */
  | readonly [0, 0 | string, RelatedValues<Models, Relation, Form>]
  /** Changes a record of the field. */
  | readonly [1, number, RelatedValues<Models, Relation, Form>]
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

/** A change of a one2many or many2many field in normalized form. Its members are applied in this order. */
export interface X2manyChanges<Models, Relation> {
  /** Replaces all records. */
  readonly set?: readonly number[];
  /** Adds existing records. */
  readonly add?: readonly number[];
  /** Removes records from the field without deleting them. */
  readonly remove?: readonly number[];
  /** Creates records and adds them. */
  readonly create?: readonly RelatedValues<Models, Relation, 'normalized'>[];
  /** Changes records of the field. */
  readonly update?: readonly ({ readonly id: number } & RelatedValues<Models, Relation, 'normalized'>)[];
  /** Deletes records of the field. */
  readonly delete?: readonly number[];
  /** Removes all records. */
  readonly clear?: boolean;
}

/** The description of a field by `describe()`. Odoo reports further members, which differ by version. */
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

type Picked<Fields, Field, Form extends ValueForm> = string extends keyof Fields
  ? // biome-ignore lint/suspicious/noExplicitAny: nothing is known about the fields
    { [Name in (Field & string) | 'id']: Name extends 'id' ? number : any }
  : { [Name in keyof Fields as Name extends Field | 'id' ? Name : never]: ReadValue<Fields[Name], Form> };

type ReadValue<Field, Form extends ValueForm> = Field extends { type: keyof AlwaysSet }
  ? AlwaysSet[Field['type']]
  : FilledValue<Field, Form> | (Field extends { required: true } ? never : EmptyRead[Form]);

interface EmptyRead {
  odoo: false;
  normalized: null;
}

/** Types of fields whose empty value is not `false`. */
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

type FilledValue<Field, Form extends ValueForm> = Field extends { type: keyof FilledForms[Form] }
  ? Field extends { type: 'many2one'; ids: 'text' }
    ? // The proxy does not normalize these pairs.
      [id: string, name: string | false]
    : FilledForms<ValuesOf<Field>>[Form][Field['type']]
  : Field extends { values: infer Values }
    ? Values
    : Field extends { type: 'many2one_reference' }
      ? number
      : Field extends { type: 'date' }
        ? DateText
        : Field extends { type: TextType | 'binary' | 'selection' }
          ? string
          : Json;

/**
 * The types whose values differ by form. Without a computed name, Odoo returns `false` for that of a related record.
 */
interface FilledForms<Model extends string = string> {
  odoo: {
    datetime: TimeText;
    many2one: [id: number, name: string | false];
    reference: `${Model},${number}`;
  };
  normalized: {
    datetime: TimeText<'normalized'>;
    many2one: { id: number; name: string | null };
    reference: { model: Model; id: number };
  };
}

type ValuesOf<Field> = Field extends { values: infer Values extends string } ? Values : string;

export type TextType = 'char' | 'text' | 'html';

type Writable<Models, Name extends keyof Models, Form extends ValueForm> = {
  -readonly [Field in keyof Models[Name] as Models[Name][Field] extends { readonly: true }
    ? never
    : Field extends 'id' | typeof METHODS
      ? never
      : Field]?: WriteValue<Models, Models[Name][Field], Form> | undefined;
};

type WriteValue<Models, Field, Form extends ValueForm> = Field extends { type: 'one2many' | 'many2many' }
  ?
      | readonly X2manyCommand<Models, RelationOf<Field>, Form>[]
      | IfNormalized<Form, X2manyChanges<Models, RelationOf<Field>>>
  : Field extends { type: 'many2one' }
    ?
        | (Field extends { ids: 'text' } ? string : number)
        | IfNormalized<Form, { readonly id: number; readonly name?: string | null }>
        | EmptyValue<Field, Form>
    : Field extends { type: 'datetime' }
      ? TimeText | DateText | IfNormalized<Form, Date | ZonedTimeText> | EmptyValue<Field, Form>
      : Field extends { type: keyof AlwaysSet }
        ? AlwaysSet[Field['type']]
        : FilledValue<Field, Form> | EmptyValue<Field, Form>;

type IfNormalized<Form extends ValueForm, Value> = Form extends 'normalized' ? Value : never;

type EmptyValue<Field, Form extends ValueForm> = Field extends { required: true }
  ? never
  : EmptyRead[Form] | null;

type RelationOf<Field> = Field extends { relation: infer Relation } ? Relation : string;

type RelatedValues<Models, Relation, Form extends ValueForm> = Relation extends keyof Models
  ? Writable<Models, Relation, Form>
  : { readonly [field: string]: unknown };
