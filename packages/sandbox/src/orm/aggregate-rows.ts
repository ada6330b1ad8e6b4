/** Sums, averages and counts of a field over rows: `amount_total:sum`, `total:sum(amount_total)`. */
import { Float, type Json } from '../json/value.ts';
import { userError, valueError } from './fault.ts';
import { isNumeric, isStored } from './field.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';
import { getValue } from './values.ts';

export interface Aggregate {
  /** Name of the member in the result. */
  readonly member: string;
  readonly field: Field;
  readonly operator: string;
}

/**
 * undefined: the field is listed without an aggregate, such as a field that is grouped by. As in Odoo, only the valid
 * beginning of the text counts (`regex_field_agg.match`).
 */
export function parseAggregate(_environment: Environment, model: Model, text: string): Aggregate | undefined {
  const [, member = '', operator, inner] = /^(\w+)(?::(\w+)(?:\((\w+)\))?)?/.exec(text) ?? [];
  if (!member) throw userError(`Invalid field specification '${text}'.`);
  const field = model.fields.get(inner ?? member);
  if (!field) throw valueError(`Invalid field '${inner ?? member}' on model '${model.name}'`);
  if (!operator && !(isNumeric(field) && isStored(field) && field.name !== 'id')) return undefined;
  return { member, field, operator: operator ?? 'sum' };
}

export function aggregateRows(
  environment: Environment,
  model: Model,
  rows: readonly Row[],
  { field, operator }: Aggregate,
): Json {
  const values = rows
    .map((row) => getValue(environment, model, row, field))
    .filter((value) => value !== null);
  const isInteger = field.type === 'integer';
  const show = (value: number) => (isInteger ? value : new Float(value));
  const numbers = values.map(Number);
  switch (operator) {
    case 'sum':
      return show(roundOff(numbers.reduce((sum, value) => sum + value, 0)));
    case 'avg':
      return new Float(
        numbers.length ? roundOff(numbers.reduce((sum, value) => sum + value, 0) / numbers.length) : 0,
      );
    case 'min':
    case 'max': {
      const sorted = [...values].sort((a, b) => ((a as string) < (b as string) ? -1 : 1));
      const found = (operator === 'min' ? sorted[0] : sorted.at(-1)) ?? false;
      return typeof found === 'number' ? show(found) : found;
    }
    case 'count':
      return values.length;
    case 'count_distinct':
      return new Set(values.map(String)).size;
    case 'array_agg':
    case 'recordset':
      return values;
    case 'bool_or':
      return values.some(Boolean);
    case 'bool_and':
      return values.every(Boolean);
    default:
      throw valueError(`Invalid aggregate method '${operator}' for '${field.name}'.`);
  }
}

// PostgreSQL adds numerics exactly; doubles have a rounding error, which is removed here.
function roundOff(value: number): number {
  return Number(value.toPrecision(15));
}
