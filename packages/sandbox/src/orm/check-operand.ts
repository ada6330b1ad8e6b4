/** Checks the value with which a condition of a domain compares a field. Throws the fault of an invalid value. */
import { printPython, printTuple } from '../json/print-python.ts';
import { isTrue, type Json, toNumber } from '../json/value.ts';
import { checkText } from './check-text.ts';
import { Fault, typeError, valueError } from './fault.ts';
import { isNumeric } from './field.ts';
import type { Environment, Field } from './model.ts';
import { parseNumber } from './parse-value.ts';

/** `item`: the whole condition, for the messages of faults. */
export function checkOperand(
  { personality }: Environment,
  field: Field,
  operator: string,
  value: Json,
  item: readonly Json[],
): void {
  const values = Array.isArray(value) ? (value as readonly Json[]) : [value];
  for (const each of values) if (typeof each === 'string') checkText(each);
  if (operator.endsWith('_of')) return;
  if (operator.includes('like')) {
    const isWhole = operator.startsWith('=');
    if (isWhole && !personality.comparesInSql && isTrue(value) && typeof value !== 'string')
      throw typeError(`The pattern to match must be a string in condition ${printTuple(item)}`);
    return;
  }
  if (personality.comparesInSql && operator.endsWith('in')) checkList(field, operator, value, item);
  if (isNumeric(field) && field.name !== 'id')
    for (const each of listNumbers(operator, value)) parseNumber(field, each);
  if (field.name === 'id' && (personality.comparesInSql || values.some((id) => typeof id === 'string')))
    for (const id of values) checkId(id);
  else if ((field.relation || field.name === 'id') && values.includes(true))
    throw new Fault('psycopg2.errors.UndefinedFunction', 'operator does not exist: integer = boolean\n');
}

/**
 * Checks the value of `in` and `not in`, which take a list. True and false pass too, and for `in` any value that is
 * false in Python.
 */
function checkList(field: Field, operator: string, value: Json, item: readonly Json[]): void {
  if (Array.isArray(value) || typeof value === 'boolean') return;
  if (operator === 'in' && !isTrue(value)) return;
  // A text is the name of a linked record.
  if (field.type === 'many2one' && typeof value === 'string') return;
  throw valueError(`Invalid domain term ${printTuple(item)}`);
}

/** The values to compare. `=` and `!=` take a list too. */
function listNumbers(operator: string, value: Json): readonly Json[] {
  const takesList = ['in', 'not in', '=', '!=', '<>'].includes(operator);
  return Array.isArray(value) && takesList ? value : [value];
}

function checkId(id: Json): void {
  if (id === null || id === false || Number.isInteger(toNumber(id))) return;
  if (typeof id === 'string' && /^\s*-?\d+\s*$/.test(id)) return;
  const shown = typeof id === 'string' ? id : id === true ? 'true' : printPython(id);
  throw new Fault(
    'psycopg2.errors.InvalidTextRepresentation',
    `invalid input syntax for type integer: "${shown}"\n`,
  );
}
