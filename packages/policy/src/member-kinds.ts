/**
 * The kinds of value that a member of a policy can have. Each kind has the schema that the OpenAPI document shows, and
 * a reader that reports every error of a value with its path. members.ts lists the members.
 */

import type { FieldRule } from '@erp-proxy/contract';
import { cutText } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { findNearestName } from '@erp-proxy/text';
import { z } from 'zod';

export interface MemberKind<Value> {
  /** The shape only: `read` checks the rules that a schema cannot express. */
  schema: z.ZodType<Value>;
  /** Reads the value at `path` and reports its errors. The result is valid only if there are none. */
  read(value: unknown, path: string, report: Report): Value | undefined;
  /** True: `read` is called for a missing member too. */
  isRequired?: true;
}

export type Report = (path: string, message: string) => void;

/** Returns the error of one text; null if there is none. */
export type FindTextError = (text: string) => string | null;

export type Members = Readonly<Record<string, unknown>>;

const TEXT_LENGTH_MAX = 200;
const INTEGER_MAX = 2 ** 31 - 1;

export function flag(description: string): MemberKind<boolean> {
  return {
    schema: z.boolean().describe(description),
    read(value, path, report) {
      if (typeof value === 'boolean') return value;
      report(path, 'must be true or false');
      return undefined;
    },
  };
}

/** A bound: a positive integer. */
export function count(description: string): MemberKind<number> {
  return { schema: z.int().min(1).describe(description), read: readCount };
}

export function text(description: string, findError: FindTextError): MemberKind<string> {
  return {
    schema: z.string().describe(description),
    read(value, path, report) {
      const error = findTextError(value, findError);
      if (error !== null) report(path, error);
      return typeof value === 'string' ? value : undefined;
    },
  };
}

/** One of these texts. */
export function choice<Text extends string>(description: string, known: readonly Text[]): MemberKind<Text> {
  return {
    schema: z.enum(known).describe(description),
    read(value, path, report) {
      const found = known.find((text) => text === value);
      if (found === undefined) report(path, `must be ${known.map((text) => `"${text}"`).join(' or ')}`);
      return found;
    },
  };
}

/** An object with any of these members, at least one. `rule` is the error of any other value. */
export function members<Value extends object>(
  description: string,
  rule: string,
  kinds: { [Name in keyof Value]-?: MemberKind<Required<Value>[Name]> },
): MemberKind<Value> {
  const entries = Object.entries<MemberKind<unknown>>(kinds);
  const shape = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema.exactOptional()]));
  return {
    // The shape has the same names as the type.
    schema: z.object(shape).describe(description) as unknown as z.ZodType<Value>,
    read(value, path, report) {
      if (!isObject(value) || Object.keys(value).length === 0) {
        report(path, rule);
        return undefined;
      }
      reportUnknownNames(value, Object.keys(kinds), `${path}.`, report);
      const given = entries.filter(([name]) => value[name] !== undefined);
      return Object.fromEntries(
        given.map(([name, { read }]) => [name, read(value[name], `${path}.${name}`, report)]),
      ) as Value;
    },
  };
}

/** A list of distinct texts, at least one. */
export function texts(description: string, findError: FindTextError): MemberKind<string[]> {
  return {
    schema: z.array(z.string()).describe(description),
    read: (value, path, report) => readTexts(value, path, findError, report),
  };
}

/** A list of distinct texts among these, at least one. */
export function choices<Text extends string>(
  description: string,
  known: readonly Text[],
): MemberKind<Text[]> {
  const isKnown = (text: string): text is Text => (known as readonly string[]).includes(text);
  const findError: FindTextError = (text) => (isKnown(text) ? null : `must be one of ${known.join(', ')}`);
  return {
    schema: z.array(z.enum(known)).describe(description),
    read: (value, path, report) => readTexts(value, path, findError, report).filter(isKnown),
  };
}

/** A list of distinct positive integers, at least one. `rule` is the error of any other entry. */
export function ids(description: string, rule: string): MemberKind<number[]> {
  return {
    schema: z.array(z.int().min(1)).describe(description),
    read(value, path, report) {
      const list: number[] = [];
      readList(value, path, report, (entry, at) => {
        if (isCount(entry)) list.push(entry);
        else report(at, rule);
      });
      return list;
    },
  };
}

/** An object whose names are patterns and whose values are lists of texts, at least one. */
export function textsByPattern(
  description: string,
  {
    rule,
    findNameError,
    findEntryError,
  }: { rule: string; findNameError: FindTextError; findEntryError: FindTextError },
): MemberKind<Record<string, string[]>> {
  return {
    schema: z.record(z.string(), z.array(z.string())).describe(description),
    read(value, path, report) {
      if (!isObject(value) || Object.keys(value).length === 0) {
        report(path, rule);
        return {};
      }
      const entries = Object.entries(value).map(([name, list]): [string, string[]] => {
        const at = pathOfEntry(path, name);
        const error = findLengthError(name) ?? findNameError(name);
        if (error !== null) report(at, error);
        return [name, readTexts(list, at, findEntryError, report)];
      });
      return Object.fromEntries(entries);
    },
  };
}

/**
 * An object whose names are patterns, and whose values have one of the members `allow` and `deny`: a list of texts, at
 * least one.
 */
export function rulesByPattern(
  description: string,
  {
    rule,
    findNameError,
    findEntryError,
  }: {
    rule: string;
    findNameError: FindTextError;
    findEntryError: (text: string, kind: 'allow' | 'deny') => string | null;
  },
): MemberKind<Record<string, FieldRule>> {
  return {
    schema: z.record(z.string(), FIELD_RULE_SCHEMA).describe(description),
    read(value, path, report) {
      if (!isObject(value) || Object.keys(value).length === 0) {
        report(path, rule);
        return {};
      }
      const entries = Object.entries(value).map(([name, given]): [string, FieldRule] => {
        const at = pathOfEntry(path, name);
        const error = findLengthError(name) ?? findNameError(name);
        if (error !== null) report(at, error);
        return [name, readRule(given, at, findEntryError, report)];
      });
      return Object.fromEntries(entries);
    },
  };
}

/** The shape of a rule for fields. */
export const FIELD_RULE_SCHEMA = z.union([
  z.object({ allow: z.array(z.string()) }),
  z.object({ deny: z.array(z.string()) }),
]);

function readRule(
  given: unknown,
  path: string,
  findEntryError: (text: string, kind: 'allow' | 'deny') => string | null,
  report: Report,
): FieldRule {
  if (!isObject(given)) {
    report(path, 'must be an object, e.g. {"deny": ["vat"]} or {"allow": ["name"]}');
    return { deny: [] };
  }
  reportUnknownNames(given, ['allow', 'deny'], `${path}.`, report);
  const { allow, deny } = given;
  const kinds = (['allow', 'deny'] as const).filter((kind) => given[kind] !== undefined);
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? 'names no fields' : 'has both `allow` and `deny`';
    report(path, `${what}: give either \`allow\` (only these fields) or \`deny\` (all but these)`);
  }
  const read = (list: unknown, kind: 'allow' | 'deny') =>
    readTexts(list, `${path}.${kind}`, (text) => findEntryError(text, kind), report);
  if (allow !== undefined) return { allow: read(allow, 'allow') };
  return { deny: deny === undefined ? [] : read(deny, 'deny') };
}

/** An object of bounds. `rule` is the error of any other value. */
export function counts<Required extends string, Optional extends string>(
  description: string,
  {
    rule,
    required,
    optional,
  }: { rule: string; required: readonly Required[]; optional: readonly Optional[] },
): MemberKind<Record<Required, number> & Partial<Record<Optional, number>>> {
  const names = [...required, ...optional];
  const shape = Object.fromEntries([
    ...required.map((name) => [name, z.int().min(1)]),
    ...optional.map((name) => [name, z.int().min(1).exactOptional()]),
  ]);
  type Counts = Record<Required, number> & Partial<Record<Optional, number>>;
  return {
    // The shape has the same names as the type.
    schema: z.object(shape).describe(description) as unknown as z.ZodType<Counts>,
    read(value, path, report) {
      if (!isObject(value)) {
        report(path, rule);
        return undefined;
      }
      reportUnknownNames(value, names, `${path}.`, report);
      for (const name of required) if (value[name] === undefined) report(`${path}.${name}`, 'is missing');
      const given = names.filter((name) => value[name] !== undefined);
      return Object.fromEntries(
        given.map((name) => [name, readCount(value[name], `${path}.${name}`, report)]),
      ) as Counts;
    },
  };
}

export function reportUnknownNames(
  given: Members,
  known: readonly string[],
  parent: string,
  report: Report,
): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    report(
      `${parent}${cutText(name, 64)}`,
      `is not known; did you mean \`${parent}${findNearestName(name, known)}\`?`,
    );
  }
}

/** The path of a member of an object whose names are patterns, e.g. `models["sale.*"]`. */
export function pathOfEntry(parent: string, name: string): string {
  return `${parent}[${JSON.stringify(cutText(name, TEXT_LENGTH_MAX))}]`;
}

function readCount(value: unknown, path: string, report: Report): number | undefined {
  if (isCount(value)) return value;
  report(path, 'must be a positive integer; leave it out for no bound');
  return undefined;
}

function readTexts(value: unknown, path: string, findError: FindTextError, report: Report): string[] {
  const list: string[] = [];
  readList(value, path, report, (entry, at) => {
    const error = findTextError(entry, findError);
    if (error !== null) report(at, error);
    if (typeof entry === 'string') list.push(entry);
  });
  return list;
}

function readList(
  value: unknown,
  path: string,
  report: Report,
  visit: (entry: unknown, path: string) => void,
): void {
  const list: unknown[] = Array.isArray(value) ? value : [];
  if (list !== value) report(path, 'must be a list');
  else if (list.length === 0) report(path, 'is empty, so that it allows nothing: fill it, or leave it out');
  const seen = new Set<unknown>();
  for (const [index, entry] of list.entries()) {
    if (seen.has(entry)) report(`${path}[${index}]`, 'appears twice: take one out');
    else visit(entry, `${path}[${index}]`);
    seen.add(entry);
  }
}

function findTextError(value: unknown, findError: FindTextError): string | null {
  return typeof value === 'string' ? (findLengthError(value) ?? findError(value)) : 'must be a text';
}

function findLengthError(text: string): string | null {
  if (text === '') return 'is empty';
  return text.length > TEXT_LENGTH_MAX ? `may have at most ${TEXT_LENGTH_MAX} characters` : null;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= INTEGER_MAX;
}
