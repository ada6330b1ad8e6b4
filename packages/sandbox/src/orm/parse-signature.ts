/** Parses a Python parameter list as the model files write it: `domain, offset=0, *, order=None, **rest`. */
import { Float, type Json } from '../json/value.ts';

/** Names of Python's inspect. A parameter without a kind is POSITIONAL_OR_KEYWORD. */
export type ParameterKind = 'POSITIONAL_OR_KEYWORD' | 'VAR_POSITIONAL' | 'KEYWORD_ONLY' | 'VAR_KEYWORD';

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  /** undefined: the argument is required. */
  readonly default: Json | undefined;
  /** The default in Python's notation: `'ilike'`. */
  readonly literal: string | undefined;
}

/** The parameters in order. A single star is a separator, not a parameter. */
export function parseSignature(text: string): readonly Parameter[] {
  const known = signatures.get(text);
  if (known) return known;
  let kind: ParameterKind = 'POSITIONAL_OR_KEYWORD';
  const parameters: Parameter[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part.startsWith('**')) parameters.push(parseParameter(part.slice(2), 'VAR_KEYWORD'));
    else if (part.startsWith('*')) {
      kind = 'KEYWORD_ONLY';
      if (part !== '*') parameters.push(parseParameter(part.slice(1), 'VAR_POSITIONAL'));
    } else if (part) parameters.push(parseParameter(part, kind));
  }
  signatures.set(text, parameters);
  return parameters;
}

const signatures = new Map<string, readonly Parameter[]>();

function parseParameter(part: string, kind: ParameterKind): Parameter {
  const [name = '', literal] = part.split('=');
  return { name, kind, literal, default: literal === undefined ? undefined : parseLiteral(literal) };
}

const literals: Record<string, Json> = { None: null, True: true, False: false, "''": '', '()': [] };

function parseLiteral(literal: string): Json {
  if (literal in literals) return literals[literal] ?? null;
  if (/^\d+$/.test(literal)) return Number(literal);
  return /^\d/.test(literal) ? new Float(Number(literal)) : literal.replaceAll("'", '');
}
