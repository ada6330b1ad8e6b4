/**
 * The kinds of value that a setting can have: how each is checked, read from text (environment, flags) and printed.
 * Knows no setting.
 */
import { isIP } from 'node:net';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

export interface Kind<Value> {
  /** Checks a value of a settings file. */
  schema: z.ZodType<Value>;
  /** Completes "expected …" in an error message. */
  expected: string;
  /** Converts the text of a variable or flag to a value for `schema`. Text in a wrong form is returned unchanged. */
  readText(text: string): unknown;
  /** All possible values, if they are few. */
  choices?: readonly string[];
  /** True if the value in a settings file may have members of its own. */
  isNested?: true;
  /** Prints the value as in a settings file. JSON is valid YAML. */
  showValue(value: Value): string;
}

export function integer(
  min: number,
  max: number,
  unit?: 'milliseconds' | 'calls' | 'days' | 'processes' | 'hours' | 'minutes' | 'seconds' | 'bytes a second',
): Kind<number> {
  return {
    schema: z.int().min(min).max(max),
    expected: `a whole number${unit === undefined ? '' : ` of ${unit}`} from ${min} to ${max}`,
    readText: (text) => (/^\d+$/.test(text) ? Number(text) : text),
    showValue: String,
  };
}

export function fraction(): Kind<number> {
  return {
    schema: z.number().min(0).max(1),
    expected: 'a number from 0 to 1',
    readText: (text) => (/^\d*\.?\d+$/.test(text) ? Number(text) : text),
    showValue: String,
  };
}

export function bytes(max: number, min = 1): Kind<number> {
  const count = z.int().min(min).max(max);
  return {
    schema: z.union([count, z.string().transform(readBytes).pipe(count)]),
    expected: `a number of bytes from ${min} to ${showBytes(max)}, plain or with a unit: KiB, MiB, GiB`,
    readText: (text) => text,
    showValue: showBytes,
  };
}

export function boolean(): Kind<boolean> {
  return {
    schema: z.boolean(),
    expected: 'true or false',
    choices: ['true', 'false'],
    readText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    showValue: String,
  };
}

export function choice<const Name extends string>(...names: readonly Name[]): Kind<Name> {
  return {
    schema: z.enum(names),
    expected: `one of ${names.join(', ')}`,
    choices: names,
    readText: (text) => text,
    showValue: (name) => name,
  };
}

/** `expected` describes the texts that `accepts` accepts. */
export function text(expected: string, accepts: (text: string) => boolean): Kind<string> {
  return {
    schema: z.string().refine(accepts),
    expected,
    readText: (given) => given,
    showValue: (value) => JSON.stringify(value),
  };
}

/** A list: comma-separated in text, a list in a file. `expected` describes one entry. */
export function list(expected: string, accepts: (entry: string) => boolean): Kind<readonly string[]> {
  return {
    schema: z.array(z.string().refine(accepts)).readonly(),
    expected: `a list of ${expected}`,
    readText: (given) => (given.trim() === '' ? [] : given.split(',').map((entry) => entry.trim())),
    showValue: (entries) => JSON.stringify(entries),
  };
}

/**
 * A list of objects: JSON in text, a list of maps in a file. `expected` describes one object, whose members are checked
 * by the part that uses it.
 */
export function entries(expected: string): Kind<readonly Members[]> {
  return nested(
    `a list of ${expected}; JSON in a flag or variable`,
    z.array(z.record(z.string(), z.unknown())),
  );
}

/** An object whose member names the operator chooses. `expected` describes the value of a member. */
export function named(expected: string): Kind<Members> {
  return nested(
    `names, each with ${expected}; JSON in a flag or variable`,
    z.record(z.string(), z.unknown()),
  );
}

type Members = Readonly<Record<string, unknown>>;

function nested<Value>(expected: string, schema: z.ZodType<Value>): Kind<Value> {
  return {
    schema,
    expected,
    isNested: true,
    readText: readNested,
    showValue: (value) => JSON.stringify(value),
  };
}

/** Parses JSON as YAML: the YAML parser refuses an object that names a member twice. */
function readNested(given: string): unknown {
  try {
    return parseYaml(given, { maxAliasCount: 0 });
  } catch {
    return given;
  }
}

/** A setting that can be empty: its value is then null, printed as an empty text. */
export function optional<Value>(kind: Kind<Value>): Kind<Value | null> {
  return {
    ...kind,
    schema: kind.schema.nullable(),
    showValue: (value) => (value === null ? '' : kind.showValue(value)),
  };
}

/** Checks an address or a CIDR. Refuses a prefix of 0, which would trust the forged header of any client. */
export function isAddressOrCidr(entry: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const version = isIP(address);
  if (version === 0) return false;
  return prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** An address as browsers print it, with or without a final slash. */
export function isPublicUrl(given: string): boolean {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(given)) return false;
  if (url.username !== '' || url.password !== '') return false;
  return url.href === given || url.href === `${given}/`;
}

const BYTE_UNITS = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024 };

function readBytes(given: string): number {
  const [, digits, unit] = /^(\d+) ?(KiB|MiB|GiB)?$/.exec(given) ?? [];
  return Number(digits) * (unit === undefined ? 1 : BYTE_UNITS[unit as keyof typeof BYTE_UNITS]);
}

function showBytes(count: number): string {
  for (const [unit, size] of Object.entries(BYTE_UNITS)) {
    if (count > 0 && count % size === 0) return `${count / size}${unit}`;
  }
  return String(count);
}
