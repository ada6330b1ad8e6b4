/** What a model is: its fields, rights, constraints and methods. The registry of a version holds them all. */
import type { Json, JsonObject } from '../json/value.ts';
import type { Environment } from './environment.ts';
import type { Field, FieldSpec, Row } from './field.ts';

export type Operation = 'read' | 'write' | 'create' | 'unlink';

export interface Call {
  readonly environment: Environment;
  readonly model: Model;
  readonly ids: readonly Json[];
  /** Every parameter by its name, defaults filled in. */
  readonly values: JsonObject;
}

/**
 * `model`: no ids; `record`: on ids; `create`: no ids, and execute_kw wants args[0] and unpacks the result
 * (docs/odoo-facts.md#execute-kw-arguments).
 */
export type MethodKind = 'model' | 'record' | 'create';

export interface Method {
  /** Python class in the messages of wrong calls, e.g. BaseModel. */
  readonly owner: string;
  readonly kind: MethodKind;
  /** As in Python: `domain, offset=0, limit=None`. */
  readonly parameters: string;
  /** Marked @api.readonly (docs/odoo-facts.md#readonly-methods). */
  readonly readonly?: true;
  /** undefined is Python's None: the answer has no result (docs/odoo-facts.md#none-result). */
  readonly run: (call: Call) => Json | undefined;
}

export interface ModelSpec {
  readonly name: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Fields that other apps add: they come after the magic ones. */
  readonly lateFields?: Readonly<Record<string, FieldSpec>>;
  readonly order?: string;
  readonly recName?: string;
  readonly displayName?: (environment: Environment, row: Row) => string;
  /** Groups that may; an operation that is missing is open to every user. */
  readonly access?: Readonly<Partial<Record<Operation, readonly string[]>>>;
  /** Record rule: the domain of what the user may touch. */
  readonly rule?: (environment: Environment) => Json;
  readonly unique?: readonly { readonly fields: readonly string[]; readonly message: string }[];
  readonly checks?: readonly { readonly holds: (row: Row) => boolean; readonly message: string }[];
  /** Runs before create with the values given; returns the values to store. */
  readonly beforeCreate?: (environment: Environment, values: JsonObject) => JsonObject;
  readonly afterCreate?: (environment: Environment, id: number) => void;
  /** Python constraints: raise a Fault. */
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
