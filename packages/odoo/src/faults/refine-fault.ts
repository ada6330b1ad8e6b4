/**
 * Replaces the type of a fault by the type of the mistake in the call if Odoo's exception does not identify it. The
 * exception that Python raises for a malformed argument depends on the version and on the model. Never replaces the
 * type of a message that Odoo wrote on purpose.
 */
import { BUSINESS_ERRORS } from '@erp-proxy/contract';
import { readArguments } from '../arguments.ts';
import { type CallMistake, findCallMistake, takesDomain } from './call-mistakes.ts';
import type { Fault } from './faults.ts';

export interface RefinedCall {
  model: string;
  method: string;
  /** A JSON array: the positional arguments. */
  params: Uint8Array;
  /** A JSON object: the named arguments. */
  keyword: Uint8Array;
}

export function refineFault(fault: Fault, call: RefinedCall): Fault {
  if (!isOfPython(fault) || call.params.length + call.keyword.length > ARGUMENT_BYTES_MAX) return fault;
  const { name, type, message } = fault.data;
  if (DATE_OUT_OF_RANGE.test(name) && takesDomain(call.method))
    return changeFault(fault, { type: 'query_invalid', text: DATE_ADVICE });
  const isUnknownField = name === 'builtins.KeyError' && type === 'query_invalid';
  const unknownKey = isUnknownField ? message.replace(/^'(.*)'$/s, '$1') : null;
  const mistake = findCallMistake(call.model, call.method, readArguments(call), unknownKey);
  // An invalid query is a mistake of its own. An exception raised inside a module is not a mistake of the caller.
  if (mistake === null || (!mistake.isCertain && type !== 'arguments_invalid')) return fault;
  return changeFault(fault, mistake);
}

/** Longest call that is searched, in bytes. Searching a longer one would delay other calls. */
const ARGUMENT_BYTES_MAX = 1024 * 1024;

function changeFault(fault: Fault, { type, text }: Pick<CallMistake, 'type' | 'text'>): Fault {
  const { status, retry } = BUSINESS_ERRORS[type];
  return { ...fault, message: text, data: { ...fault.data, type, retryable: retry === 'always', status } };
}

/** Values to write can also be out of range. */
const DATE_OUT_OF_RANGE = /^psycopg\d?\..*\bDatetimeFieldOverflow$/;
const DATE_ADVICE = 'The domain compares a date with a day or a time that does not exist.';
const PYTHON = /^builtins\.(Assertion|Attribute|Index|Key|Type|Value)Error$/;
const POSTGRESQL = /^psycopg\d?\./;

/** An exception that Odoo did not raise on purpose, or one of PostgreSQL about a value. */
function isOfPython({ data: { name, type } }: Fault): boolean {
  if (PYTHON.test(name)) return ['upstream_error', 'arguments_invalid', 'query_invalid'].includes(type);
  return POSTGRESQL.test(name) && (type === 'arguments_invalid' || type === 'query_invalid');
}
