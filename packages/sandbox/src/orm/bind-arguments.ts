/**
 * Binds positional and named arguments to a Python signature, with CPython's TypeErrors. `given` counts self,
 * as Python does in its messages.
 */
import { Float, type Json, type JsonObject } from '../json/value.ts';
import { typeError } from './fault.ts';

export function bindArguments(
  name: string,
  parameters: string,
  args: readonly Json[],
  named: JsonObject,
): JsonObject {
  const signature = parseSignature(parameters);
  const { positional } = signature;
  const bound: Record<string, Json> = {};
  for (const [index, parameter] of positional.entries()) {
    const value = args[index];
    if (value !== undefined) bound[parameter.name] = value;
  }
  for (const [key, value] of Object.entries(named)) {
    const isKnown = [...positional, ...signature.namedOnly].some((parameter) => parameter.name === key);
    if (!isKnown && !signature.takesAnyName)
      throw typeError(`${name}() got an unexpected keyword argument '${key}'`);
    if (isKnown && key in bound) throw typeError(`${name}() got multiple values for argument '${key}'`);
    bound[key] = value;
  }
  if (args.length > positional.length && !signature.takesAnyPosition) {
    throw typeError(`${name}() takes ${countPositional(positional)} but ${args.length + 1} were given`);
  }
  const missing = positional.filter(
    (parameter) => !(parameter.name in bound) && parameter.default === undefined,
  );
  if (missing.length > 0) {
    const plural = missing.length > 1 ? 's' : '';
    throw typeError(
      `${name}() missing ${missing.length} required positional argument${plural}: ${listNames(missing.map((parameter) => parameter.name))}`,
    );
  }
  for (const parameter of [...positional, ...signature.namedOnly]) {
    if (!(parameter.name in bound)) bound[parameter.name] = parameter.default ?? null;
  }
  return bound;
}

interface Parameter {
  readonly name: string;
  readonly default: Json | undefined;
}

interface Signature {
  readonly positional: readonly Parameter[];
  readonly namedOnly: readonly Parameter[];
  readonly takesAnyPosition: boolean;
  readonly takesAnyName: boolean;
}

const signatures = new Map<string, Signature>();

function parseSignature(text: string): Signature {
  const known = signatures.get(text);
  if (known) return known;
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const star = parts.findIndex((part) => part.startsWith('*') && !part.startsWith('**'));
  const before = star < 0 ? parts : parts.slice(0, star);
  const signature = {
    positional: before.filter((part) => !part.startsWith('**')).map(parseParameter),
    namedOnly:
      star < 0
        ? []
        : parts
            .slice(star + 1)
            .filter((part) => !part.startsWith('**'))
            .map(parseParameter),
    takesAnyPosition: star >= 0 && parts[star] !== '*',
    takesAnyName: parts.some((part) => part.startsWith('**')),
  };
  signatures.set(text, signature);
  return signature;
}

const literals: Record<string, Json> = { None: null, True: true, False: false, "''": '', '0': 0, '()': [] };

function parseParameter(part: string): Parameter {
  const [name = '', literal] = part.split('=');
  if (literal === undefined) return { name, default: undefined };
  if (literal in literals) return { name, default: literals[literal] ?? null };
  return {
    name,
    default: /^\d+$/.test(literal)
      ? Number(literal)
      : /^\d/.test(literal)
        ? new Float(Number(literal))
        : literal.replaceAll("'", ''),
  };
}

function countPositional(positional: readonly Parameter[]): string {
  const most = positional.length + 1;
  const least = positional.filter((parameter) => parameter.default === undefined).length + 1;
  const plural = most > 1 ? 's' : '';
  return `${least < most ? `from ${least} to ` : ''}${most} positional argument${plural}`;
}

export function listNames(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 3) return quoted.join(' and ');
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
}
