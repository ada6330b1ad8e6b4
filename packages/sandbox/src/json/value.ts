/**
 * The JSON values of the sandbox. Python distinguishes integers from floats (`1` and `1.0`), JavaScript does not: here
 * a float is an object of its own, and an integer beyond 2^53 a bigint. A file is a Binary, on the wire a string.
 */
import { Binary } from './binary.ts';

export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type Json = null | boolean | number | bigint | string | Float | Binary | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Float) &&
    !(value instanceof Binary)
  );
}

/** Python's bool() of a value: empty texts, lists and objects are false, and so is 0. */
export function isTrue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  const number = toNumber(value);
  return number === undefined ? Boolean(value) : number !== 0;
}

/** The value as a number, whether it is an int or a float in Python; undefined for anything else. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Float ? value.value : undefined;
}
