/**
 * The types of domains and orders. A domain that is written in the call is checked condition by condition, so that an
 * error marks the field, the operator or the value that is wrong. Types only.
 */
import type { FieldName, TextType } from './field-types.ts';

type Connector = '&' | '|' | '!';

/**
 * A domain in a variable. Fields, operators and values are checked only in a domain that is written in the call, or `as
 * const`.
 */
export type Domain<Models, Name extends keyof Models> = readonly DomainTerm<Models, Name>[];

/** `string & {}` keeps the known names as suggestions in an editor. {@link CheckDomain} refuses other names. */
type DomainTerm<Models, Name extends keyof Models> =
  | Connector
  | readonly [FieldName<Models, Name> | (string & {}), Operator | (string & {}), DomainValue];

/** Any value. The parts make the compiler infer literals and tuples, also within nested domains. */
type DomainValue = string | number | boolean | NestedTerms | readonly [] | object | null | undefined;
interface NestedTerms
  extends ReadonlyArray<
    DomainValue | readonly ['id' | (string & {}), Operator | (string & {}), DomainValue]
  > {}

/** The type of a domain parameter. The empty list makes the compiler infer a tuple. */
export type DomainInput<Models, Name extends keyof Models> = Domain<Models, Name> | readonly [];

/** The given domain if it is valid; otherwise a domain in which the wrong part has the type that it should have. */
export type CheckDomain<Models, Name extends keyof Models, Given> =
  Given extends CheckTerms<Models, Name, Given> ? Given : CheckTerms<Models, Name, Given>;

type CheckTerms<Models, Name, Given> = {
  readonly [Index in keyof Given]: Given[Index] extends readonly [infer Path, infer Operator, infer Value]
    ? string extends Operator
      ? // The operator is only known at run time.
        Given[Index]
      : CheckField<Models, Name, Path, Operator, Value, FieldAt<Models, Name, Path>>
    : Given[Index];
};

type CheckField<Models, Name, Path, Operator, Value, Field> = [Field] extends [never]
  ? readonly [PathLike<Models, Name, Path>, Operator, Value]
  : Operator extends 'any' | 'not any'
    ? Field extends { relation: infer Relation }
      ? readonly [Path, Operator, CheckTerms<Models, Relation, Value>]
      : CheckOperator<Path, Operator, Value, OperatorsOf<Field>>
    : CheckOperator<
        Path,
        Operator,
        Value,
        Path extends 'id' | `${string}.id` ? IdOperators : OperatorsOf<Field>
      >;

type CheckOperator<Path, Operator, Value, Operators> = Operator extends keyof Operators
  ? readonly [Path, Operator, Operators[Operator]]
  : readonly [Path, keyof Operators & string, Value];

/** The field at the end of a dotted path; `never` if it does not exist. */
type FieldAt<Models, Name, Path> = Name extends keyof Models
  ? Path extends keyof Models[Name]
    ? Models[Name][Path]
    : Path extends `${infer First}.${infer Rest}`
      ? First extends keyof Models[Name]
        ? Models[Name][First] extends { relation: infer Relation }
          ? FieldAt<Models, Relation, Rest>
          : // Parts of a date, and properties.
            Models[Name][First] extends { type: 'date' | 'datetime' | 'properties' | 'json' }
            ? { type: 'any' }
            : never
        : never
      : string extends Path
        ? { type: 'any' }
        : never
  : { type: 'any' };

/** The valid paths for a wrong one: its right beginning, followed by any existing field. */
type PathLike<Models, Name, Path> = Name extends keyof Models
  ? Path extends `${infer First}.${infer Rest}`
    ? First extends keyof Models[Name]
      ? Models[Name][First] extends { relation: infer Relation }
        ? `${First}.${PathLike<Models, Relation, Rest>}`
        : First
      : keyof Models[Name] & string
    : keyof Models[Name] & string
  : string;

/**
 * The operators of conditions. `any` and `not any` exist from Odoo 17 on, `not =like` and `not =ilike` from Odoo 19 on.
 */
export type Operator = keyof AnyOperators;

type OperatorsOf<Field> = Field extends { type: TextType }
  ? TextOperators
  : Field extends { type: 'selection'; values: infer Values }
    ? SetOperators<Values>
    : Field extends { type: keyof OperatorsByType }
      ? OperatorsByType[Field['type']]
      : AnyOperators;

interface OperatorsByType {
  boolean: SetOperators<boolean>;
  integer: OrderOperators<number>;
  float: OrderOperators<number>;
  monetary: OrderOperators<number>;
  many2one_reference: OrderOperators<number>;
  date: OrderOperators<string>;
  datetime: OrderOperators<string>;
  selection: SetOperators<string>;
  reference: TextOperators;
  binary: { '=': false; '!=': false };
  many2one: RelationOperators;
  one2many: RelationOperators;
  many2many: RelationOperators;
}

interface SetOperators<Value> {
  '=': Value | false;
  '!=': Value | false;
  in: readonly (Value | false)[];
  'not in': readonly (Value | false)[];
}

interface OrderOperators<Value> extends SetOperators<Value> {
  '<': Value;
  '<=': Value;
  '>': Value;
  '>=': Value;
}

interface LikeOperators {
  like: string;
  ilike: string;
  'not like': string;
  'not ilike': string;
  '=like': string;
  '=ilike': string;
  'not =like': string;
  'not =ilike': string;
}

interface TextOperators extends OrderOperators<string>, LikeOperators {}

interface HierarchyOperators {
  child_of: number | readonly number[];
  parent_of: number | readonly number[];
}

interface IdOperators extends OrderOperators<number>, HierarchyOperators {}

/** `ilike` and similar operators compare the name of the related record. */
interface RelationOperators extends SetOperators<number>, LikeOperators, HierarchyOperators {
  any: readonly unknown[];
  'not any': readonly unknown[];
}

type AnyOperators = Record<keyof IdOperators | keyof TextOperators | keyof RelationOperators, unknown>;

/** The given order if its fields exist; otherwise the order with existing fields in place of the first wrong one. */
export type CheckOrder<Models, Name extends keyof Models, Given> = string extends Given
  ? Given
  : Given extends OrderLike<keyof Models[Name], Given, ''>
    ? Given
    : OrderLike<keyof Models[Name], Given, ''>;

/** `unknown` if the order is valid. */
type OrderLike<Names, Given, Before extends string> = Given extends `${infer First},${infer Rest}`
  ? IsOrderTerm<Names, First> extends true
    ? OrderLike<Names, Rest, `${Before}${First},`>
    : OrderTermLike<Names, First, Before, `,${Rest}`>
  : IsOrderTerm<Names, Given> extends true
    ? unknown
    : OrderTermLike<Names, Given, Before, ''>;

type IsOrderTerm<Names, Term> = Term extends ` ${infer Rest}`
  ? IsOrderTerm<Names, Rest>
  : Term extends `${infer Field} ${infer Direction}`
    ? IsOrderTerm<Names, Field> extends true
      ? Lowercase<Direction> extends OrderDirection
        ? true
        : false
      : false
    : Term extends Names
      ? true
      : // A part of a field, such as a property, is not checked.
        Term extends `${infer Field}.${string}`
        ? IsOrderTerm<Names, Field>
        : false;

/** The valid terms for a wrong one. */
type OrderTermLike<Names, Term, Before extends string, After extends string> = Term extends ` ${infer Rest}`
  ? OrderTermLike<Names, Rest, `${Before} `, After>
  : Term extends `${infer Field} ${infer Direction}`
    ? Field extends Names
      ? `${Before}${Field} ${OrderDirection}${After}`
      : `${Before}${Names & string} ${Direction}${After}`
    : `${Before}${Names & string}${After}`;

type OrderDirection = 'asc' | 'desc' | `${'asc' | 'desc'} nulls ${'first' | 'last'}`;
