/**
 * Binds positional and named arguments to a Python signature, with CPython's TypeErrors. `given` includes self, as in
 * Python's messages.
 */
import type { Json, JsonObject } from '../json/value.ts';
import { typeError } from './fault.ts';
import { type Parameter, type ParameterKind, parseSignature } from './parse-signature.ts';

export function bindArguments(
  name: string,
  parameters: string,
  args: readonly Json[],
  named: JsonObject,
): JsonObject {
  const signature = parseSignature(parameters);
  const ofKind = (kind: ParameterKind) => signature.filter((parameter) => parameter.kind === kind);
  const positional = ofKind('POSITIONAL_OR_KEYWORD');
  const [rest] = ofKind('VAR_POSITIONAL');
  const nameable = [...positional, ...ofKind('KEYWORD_ONLY')];
  const bound: Record<string, Json> = {};
  for (const [index, parameter] of positional.entries()) {
    const value = args[index];
    if (value !== undefined) bound[parameter.name] = value;
  }
  for (const [key, value] of Object.entries(named)) {
    const isKnown = nameable.some((parameter) => parameter.name === key);
    if (!isKnown && ofKind('VAR_KEYWORD').length === 0)
      throw typeError(`${name}() got an unexpected keyword argument '${key}'`);
    if (isKnown && key in bound) throw typeError(`${name}() got multiple values for argument '${key}'`);
    bound[key] = value;
  }
  if (args.length > positional.length && !rest) {
    throw typeError(`${name}() takes ${countPositional(positional)} but ${args.length + 1} were given`);
  }
  for (const [list, kind] of [
    [positional, 'positional'],
    [ofKind('KEYWORD_ONLY'), 'keyword-only'],
  ] as const) {
    const missing = list.filter((parameter) => !(parameter.name in bound) && !hasDefault(parameter));
    if (missing.length === 0) continue;
    const plural = missing.length > 1 ? 's' : '';
    throw typeError(
      `${name}() missing ${missing.length} required ${kind} argument${plural}: ${listNames(missing.map((parameter) => parameter.name))}`,
    );
  }
  if (rest) bound[rest.name] = args.slice(positional.length);
  return fillDefaults(signature, bound);
}

/** The default of a parameter without an argument. */
export function fillDefaults(signature: readonly Parameter[], bound: JsonObject): JsonObject {
  const filled: Record<string, Json> = { ...bound };
  for (const parameter of signature) {
    if (parameter.kind === 'VAR_KEYWORD' || parameter.name in filled) continue;
    filled[parameter.name] = parameter.kind === 'VAR_POSITIONAL' ? [] : (parameter.default ?? null);
  }
  return filled;
}

export function listNames(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 3) return quoted.join(' and ');
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
}

function hasDefault(parameter: Parameter): boolean {
  return parameter.default !== undefined;
}

function countPositional(positional: readonly Parameter[]): string {
  const most = positional.length + 1;
  const least = positional.filter((parameter) => !hasDefault(parameter)).length + 1;
  const plural = most > 1 ? 's' : '';
  return `${least < most ? `from ${least} to ` : ''}${most} positional argument${plural}`;
}
