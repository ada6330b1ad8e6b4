/**
 * The types of the ORM: fields, models with their rights, constraints and methods, and the environment of a call. They
 * are in one file because they refer to each other.
 */
import type { Json, JsonObject } from '../json/value.ts';
import type { Personality } from '../versions/personality.ts';
import type { Row } from './row.ts';
import type { Store } from './store.ts';

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
  | 'many2one_reference'
  | 'json'
  | 'properties';

export interface FieldOptions {
  readonly required?: boolean;
  readonly readonly?: boolean;
  readonly relation?: string;
  /** For a one2many: the field of the other model that refers to this model. */
  readonly inverse?: string;
  /**
   * For a one2many whose related model belongs to several models: the field of the related model that names this model.
   */
  readonly inverseModel?: string;
  readonly selection?: readonly (readonly [string, string])[];
  readonly default?: Json | ((environment: Environment) => Json);
  /** The value is computed: at each read, or if `storedFrom` is given, when its row is written. */
  readonly compute?: (environment: Environment, row: Row) => Json;
  /** For a value that Odoo computes at each read: the fields on which Odoo declares it to depend. */
  readonly depends?: readonly string[];
  /**
   * The fields on which a computed value depends that Odoo stores: `name`, `order_line.price_unit`. A change of one of
   * them stamps the row.
   */
  readonly storedFrom?: readonly string[];
  /**
   * The path of a field of a linked record, such as `product_tmpl_id.name`, whose value this field has. Writes change
   * it too.
   */
  readonly related?: `${string}.${string}`;
  /** Only users of this group see the field. */
  readonly groups?: string;
  /** Whether `copy` copies the value; by default, it copies all fields but one2many. */
  readonly copy?: boolean;
  readonly ondelete?: 'restrict' | 'set null' | 'cascade';
  /** Whether Odoo has a column for the field, if the sandbox differs. */
  readonly store?: boolean;
  /**
   * Whether a domain can compare the field. Default: true if it has a column, or is related to a field for which it is
   * true.
   */
  readonly searchable?: boolean;
  /** Whether records can be sorted by the field. Default: true for a column, unless it holds a file. */
  readonly sortable?: boolean;
  /** A float that Odoo does not round, so that it can be NaN or infinite. */
  readonly unrounded?: boolean;
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

export type Operation = 'read' | 'write' | 'create' | 'unlink';

export interface Call {
  readonly environment: Environment;
  readonly model: Model;
  readonly ids: readonly Json[];
  /** Every parameter by its name, with defaults filled in. */
  readonly values: JsonObject;
}

/**
 * `model`: no ids. `record`: on ids. `create`: no ids; execute_kw needs args[0] and unwraps the result
 * (docs/odoo-facts.md#execute-kw-arguments).
 */
export type MethodKind = 'model' | 'record' | 'create';

export interface Method {
  /** Python class in the messages about wrong arguments, e.g. BaseModel. */
  readonly owner: string;
  readonly kind: MethodKind;
  /** The parameters in Python's notation: `domain, offset=0, limit=None`. */
  readonly parameters: string;
  /** The method has the decorator @api.readonly (docs/odoo-facts.md#readonly-methods). */
  readonly readonly?: true;
  /** undefined is Python's None: the answer has no `result` (docs/odoo-facts.md#none-result). */
  readonly run: (call: Call) => Json | undefined;
}

export interface ModelSpec {
  readonly name: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Fields that other apps add. They follow the magic fields. */
  readonly lateFields?: Readonly<Record<string, FieldSpec>>;
  /** The many2one field that leads to the record whose fields this model has too (`_inherits`). */
  readonly inherits?: string;
  /** false: rows have no create_uid, create_date, write_uid and write_date (`_log_access`). */
  readonly logAccess?: false;
  readonly order?: string;
  readonly recName?: string;
  /** Text fields that a search by name compares, in addition to the name. */
  readonly searchedFields?: readonly string[];
  readonly displayName?: (environment: Environment, row: Row) => string;
  /** Groups that may perform an operation. Without an entry, every user may. */
  readonly access?: Readonly<Partial<Record<Operation, readonly string[]>>>;
  /** Record rule: the domain of the records that the user may access. */
  readonly rule?: (environment: Environment) => Json;
  /** A search finds only rows whose field is empty, unless its domain mentions the field or `id`. */
  readonly hiddenBy?: string;
  readonly unique?: readonly { readonly fields: readonly string[]; readonly message: string }[];
  readonly checks?: readonly { readonly holds: (row: Row) => boolean; readonly message: string }[];
  /** Runs before create with the given values; returns the values to store. */
  readonly beforeCreate?: (environment: Environment, values: JsonObject) => JsonObject;
  /** Runs before write with the given values; returns the values to store. */
  readonly beforeWrite?: (environment: Environment, values: JsonObject) => JsonObject;
  readonly afterCreate?: (environment: Environment, id: number) => void;
  /** Python constraints; throw a Fault. */
  readonly validate?: (environment: Environment, row: Row) => void;
  readonly beforeUnlink?: (environment: Environment, row: Row) => void;
  readonly methods?: Readonly<Record<string, Method>>;
}

export interface Model extends Omit<ModelSpec, 'fields' | 'lateFields' | 'methods'> {
  readonly fields: ReadonlyMap<string, Field>;
  readonly methods: ReadonlyMap<string, Method>;
  /** Name of the Python class, e.g. ResPartner. */
  readonly className: string;
}

/** What Odoo calls `env`: the user and the context of a call, and the data that it runs on. */
export interface Environment {
  readonly store: Store;
  readonly models: ReadonlyMap<string, Model>;
  readonly personality: Personality;
  readonly uid: number;
  readonly context: JsonObject;
  /** True: exempt from access control, like Odoo's sudo(). */
  readonly isSuperuser: boolean;
  /** The start of the transaction, in milliseconds since 1970. */
  readonly startedMs: number;
  /** The row of the user of the call. */
  readonly user: Row;
  readonly userCompanyIds: readonly number[];
  /** The companies of the context, which must all be companies of the user; by default, all companies of the user. */
  readonly companyIds: readonly number[];
  readonly companyId: number;
  /** The start of the transaction in Odoo's notation, in whole seconds. */
  readonly now: string;
  /** The start of the transaction with microseconds, as Odoo stamps rows with it. */
  readonly startedAt: string;

  /** Throws KeyError if there is no such model. */
  model(name: string): Model;
  sudo(): Environment;
  /** Returns the same environment if the context is not an object. */
  withContext(context: unknown): Environment;
  hasGroup(group: string): boolean;
  /** The start of the transaction plus `ms` milliseconds, in Odoo's notation. */
  timeIn(ms: number): string;
}
