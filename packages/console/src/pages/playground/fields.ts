/** The operators and values that fit the fields of a model. */
import type { Json } from '@erp-proxy/contract';

export interface OperatorInfo {
  /** The text that people read, which is also the key of the operator. */
  label: string;
  operator: string;
  /** The form of the value. `set` and `unset` have no value. */
  takes: 'one' | 'many' | 'text' | 'set' | 'unset';
}

const IS: OperatorInfo = { label: 'is', operator: '=', takes: 'one' };
const IS_NOT: OperatorInfo = { label: 'is not', operator: '!=', takes: 'one' };
const IN: OperatorInfo = { label: 'is one of', operator: 'in', takes: 'many' };
const NOT_IN: OperatorInfo = { label: 'is none of', operator: 'not in', takes: 'many' };
const SET: OperatorInfo = { label: 'is set', operator: '!=', takes: 'set' };
const UNSET: OperatorInfo = { label: 'is not set', operator: '=', takes: 'unset' };
const CONTAINS: OperatorInfo = { label: 'contains', operator: 'ilike', takes: 'text' };
const CONTAINS_NOT: OperatorInfo = { label: 'does not contain', operator: 'not ilike', takes: 'text' };
const LIKE: OperatorInfo = { label: 'matches pattern', operator: '=ilike', takes: 'text' };
const COMPARISONS: OperatorInfo[] = [
  { label: 'is less than', operator: '<', takes: 'one' },
  { label: 'is at most', operator: '<=', takes: 'one' },
  { label: 'is more than', operator: '>', takes: 'one' },
  { label: 'is at least', operator: '>=', takes: 'one' },
];
const BELOW: OperatorInfo = { label: 'is or is below', operator: 'child_of', takes: 'one' };
const ABOVE: OperatorInfo = { label: 'is or is above', operator: 'parent_of', takes: 'one' };

const NUMBERS = [IS, IS_NOT, ...COMPARISONS, IN, NOT_IN];
const TIMES = [IS, IS_NOT, ...COMPARISONS, SET, UNSET];
const TEXTS = [CONTAINS, CONTAINS_NOT, IS, IS_NOT, LIKE, IN, NOT_IN, SET, UNSET];
const MANY = [IN, NOT_IN, CONTAINS, CONTAINS_NOT, SET, UNSET];
const OPERATORS: Record<string, OperatorInfo[]> = {
  boolean: [IS, IS_NOT],
  integer: NUMBERS,
  float: NUMBERS,
  monetary: NUMBERS,
  date: TIMES,
  datetime: TIMES,
  selection: [IS, IS_NOT, IN, NOT_IN, SET, UNSET],
  many2one: [IS, IS_NOT, IN, NOT_IN, CONTAINS, CONTAINS_NOT, BELOW, ABOVE, SET, UNSET],
  one2many: MANY,
  many2many: MANY,
};

export function listOperators(type: string | undefined): OperatorInfo[] {
  return (type === undefined ? undefined : OPERATORS[type]) ?? TEXTS;
}

/** The operator of a condition, from those of the field's type if it is one of them. */
export function findOperator(type: string | undefined, operator: string, value: Json): OperatorInfo {
  const listed = listOperators(type);
  if (value === false && type !== 'boolean') {
    const found = listed.find(({ operator: name, takes }) => name === operator && /set/.test(takes));
    if (found !== undefined) return found;
  }
  return (
    listed.find(({ operator: name, takes }) => name === operator && !/set/.test(takes)) ?? {
      label: operator,
      operator,
      takes: 'one',
    }
  );
}

/** The initial value after the operator has changed: the present value, if it fits. */
export function convertValue(value: Json, type: string | undefined, { takes }: OperatorInfo): Json {
  switch (takes) {
    case 'set':
    case 'unset':
      return false;
    case 'many':
      if (Array.isArray(value)) return value;
      return value === '' || value === false || value === null ? [] : [value];
    case 'text':
      return typeof value === 'string' ? value : '';
    default: {
      const one = Array.isArray(value) ? (value[0] ?? '') : value;
      if (type === 'boolean') return one === true;
      return one === false || one === null ? '' : one;
    }
  }
}
