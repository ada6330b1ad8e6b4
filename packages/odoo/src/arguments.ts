/** The positional and named arguments of a call, as spans of its bytes. Independent of methods. */
import { type JsonMember, type JsonSpan, readElements, readMembers } from '@erp-proxy/json';

/** Known methods take fewer positional arguments; a body can hold millions. */
export const POSITIONAL_MAX = 16;

export interface Arguments {
  /** The bytes that the spans refer to. */
  bytes: Uint8Array;
  /** The positional arguments, at most POSITIONAL_MAX of them. */
  positional: readonly JsonSpan[];
  named: readonly JsonMember[];
}

/** Reads the arguments of a call. `params` is a JSON array, and `keyword` a JSON object. */
export function readArguments({ params, keyword }: { params: Uint8Array; keyword: Uint8Array }): Arguments {
  const bytes = Buffer.concat([params, keyword]);
  const positional: JsonSpan[] = [];
  readElements(bytes, { kind: 'array', start: 0, end: params.length }, (element) => {
    positional.push(element);
    return positional.length < POSITIONAL_MAX;
  });
  const object: JsonSpan = { kind: 'object', start: params.length, end: bytes.length };
  return { bytes, positional, named: readMembers(bytes, object) };
}

/**
 * All values of one argument (`position` null: it is always named). Odoo refuses a call that gives an argument twice,
 * but no code here relies on the refusal.
 */
export function findArgument(
  { positional, named }: Arguments,
  position: number | null,
  name: string,
): JsonSpan[] {
  const placed = position === null ? undefined : positional[position];
  const values = named.filter((member) => member.name === name).map(({ value }) => value);
  return placed === undefined ? values : [placed, ...values];
}

/** True for null and false, by which Odoo's callers leave a value out. */
export function isLeftOut({ kind }: JsonSpan): boolean {
  return kind === 'null' || kind === 'false';
}
