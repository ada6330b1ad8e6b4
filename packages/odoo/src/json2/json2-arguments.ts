/**
 * Converts the arguments of `execute_kw` into the body of `/json/2`, which takes named arguments only. The outcome must
 * equal that of `/jsonrpc`, so a call is not converted unless that is certain. Values keep their bytes. Independent of
 * the method, except for `create`, and of the request around the body.
 */
import { clipText } from '@erp-proxy/contract';
import { isEmptyArray, type JsonSpan, readElements, readMembers } from '@erp-proxy/json';
import { classifyFault, type Fault } from '../faults/faults.ts';
import type { Parameter, Signature } from '../signatures/signature.ts';

export interface PositionalCall {
  method: string;
  signature: Signature;
  /** A JSON array without surrounding white space: the positional arguments. */
  params: Uint8Array;
  /** A JSON object without surrounding white space: the named arguments. */
  keyword: Uint8Array;
  /** The credentials of the call. */
  secrets: readonly string[];
}

export type MappedArguments =
  | { body: Uint8Array }
  /** The mistake that `/jsonrpc` would report, worded like Python's `inspect.Signature.bind`. */
  | { fault: Fault }
  /** Why the call cannot be sent over `/json/2`, and what would help. */
  | { unmappable: string };

export function mapArguments(call: PositionalCall): MappedArguments {
  const outcome = bindArguments(call);
  if (outcome instanceof BindingError) {
    // Odoo looks up the method before it binds the arguments, and reports that a private method does not exist.
    if (call.signature.isPrivate) return unmappable('the method is private');
    return { fault: describeMistake(outcome, call.secrets) };
  }
  return outcome;
}

/** A mistake that Python would raise when it binds the arguments. */
class BindingError {
  readonly name: 'TypeError' | 'IndexError';
  readonly message: string;

  constructor(name: 'TypeError' | 'IndexError', message: string) {
    this.name = name;
    this.message = message;
  }
}

/**
 * Arguments of the route itself (docs/odoo-facts.md#json2-arguments, docs/odoo-facts.md#parameters). A parameter of the
 * method with the same name cannot be reached.
 */
const ROUTE_ARGUMENTS: ReadonlySet<string> = new Set(['self', 'ids', 'context', '__model__', '__method__']);

function bindArguments({ method, signature, params, keyword }: PositionalCall) {
  const { parameters } = signature;
  const body = new BodyPieces();
  const positionals = readPositionals(params, parameters.length + 2);

  // In this case /jsonrpc uses another argument to choose the form of the result. Odoo's own `create` is never a method
  // of records.
  if (method === 'create' && signature.kind === 'ids')
    return unmappable('`create` is not a method of the model');
  if (signature.kind === 'ids') {
    const ids = positionals.shift();
    // Over /json/2, a call without ids would run on an empty recordset and silently do nothing
    // (docs/odoo-facts.md#json2-arguments).
    if (ids === undefined) return new BindingError('IndexError', 'list index out of range');
    if (!isIds(params, ids)) return unmappable('`params[0]` must be an id or a list of ids');
    body.add('ids', params, ids);
  }

  const bound = new Set<string>();
  const refused = bindPositionals(positionals, parameters, (parameter, value) => {
    bound.add(parameter.name);
    body.add(parameter.name, params, value);
  });
  if (refused !== null) return refused;

  const seen = new Set<string>();
  for (const member of readMembers(keyword, wholeOf('object', keyword))) {
    const { name, value } = member;
    if (seen.has(name)) return unmappable('an argument stands in `keyword` twice');
    seen.add(name);
    const outcome = name === 'context' ? checkContext(keyword, value) : checkKeyword(name, parameters, bound);
    if (outcome === 'leave_out') continue;
    if (outcome !== 'take') return outcome;
    body.addWritten(keyword.subarray(member.nameStart, value.end));
  }

  const missing = parameters.find(
    ({ name, kind, isRequired }) =>
      isRequired &&
      !bound.has(name) &&
      // For these parameters, a member of `keyword` with the same name is something else: the context of the call, or
      // an entry of `**kwargs`.
      (name === 'context' || kind === 'positional_only' || !seen.has(name)),
  );
  if (missing) return new BindingError('TypeError', `missing a required argument: '${missing.name}'`);
  // /jsonrpc reads the first positional argument after it has created the records, fails, and rolls back
  // (docs/odoo-facts.md#execute-kw-arguments).
  if (method === 'create' && positionals.length === 0)
    return new BindingError('IndexError', 'list index out of range');
  return { body: body.join() };
}

function bindPositionals(
  values: readonly JsonSpan[],
  parameters: readonly Parameter[],
  bind: (parameter: Parameter, value: JsonSpan) => void,
) {
  for (const [index, value] of values.entries()) {
    const parameter = parameters[index];
    if (parameter?.kind === 'positional' && !ROUTE_ARGUMENTS.has(parameter.name)) bind(parameter, value);
    else if (parameter?.kind === 'positional' || parameter?.kind === 'positional_only')
      return unmappable(`\`${parameter.name}\` cannot be given by name`);
    else if (parameters.some(({ kind }) => kind === 'var_positional'))
      return unmappable('the method takes positional arguments that have no names: use `keyword`');
    else return new BindingError('TypeError', 'too many positional arguments');
  }
  return null;
}

function checkKeyword(name: string, parameters: readonly Parameter[], bound: ReadonlySet<string>) {
  const quoted = `'${clipText(name, 64)}'`;
  if (bound.has(name)) return new BindingError('TypeError', `multiple values for argument ${quoted}`);
  const takesAny = parameters.some(({ kind }) => kind === 'var_keyword');
  const parameter = parameters.find(
    (candidate) => candidate.name === name && !candidate.kind.startsWith('var_'),
  );
  const isNamed = parameter !== undefined && parameter.kind !== 'positional_only';
  if (!isNamed && !takesAny) {
    return parameter === undefined
      ? new BindingError('TypeError', `got an unexpected keyword argument ${quoted}`)
      : new BindingError('TypeError', `${quoted} parameter is positional only, but was passed as a keyword`);
  }
  if (ROUTE_ARGUMENTS.has(name)) return unmappable(`\`${name}\` means something else in /json/2`);
  return 'take';
}

/** /jsonrpc ignores a context that is false in Python. /json/2 ignores only null, and then uses its own default. */
function checkContext(bytes: Uint8Array, context: JsonSpan) {
  const { kind } = context;
  if (kind === 'object') return 'take';
  const isLeftOut = kind === 'null' || kind === 'false' || isEmptyArray(bytes, context);
  return isLeftOut ? 'leave_out' : unmappable('`keyword.context` must be an object');
}

/** Reads enough elements to detect too many; a body can hold millions. */
function readPositionals(bytes: Uint8Array, countMax: number): JsonSpan[] {
  const elements: JsonSpan[] = [];
  readElements(bytes, wholeOf('array', bytes), (element) => {
    elements.push(element);
    return elements.length < countMax;
  });
  return elements;
}

/**
 * `browse` accepts more (a string, null), but a caller who sends these means something else. `3.0` is a float in
 * Python, not an id.
 */
function isIds(bytes: Uint8Array, { kind, start, end }: JsonSpan): boolean {
  if (kind === 'array') return true;
  return kind === 'number' && bytes.subarray(start, end).every((byte) => byte === MINUS || isDigit(byte));
}

const MINUS = 0x2d;

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function wholeOf(kind: 'array' | 'object', bytes: Uint8Array): JsonSpan {
  return { kind, start: 0, end: bytes.length };
}

const COMMA = Buffer.from(',');
const OPENING_BRACE = Buffer.from('{');
const CLOSING_BRACE = Buffer.from('}');

/** Collects the members of an object, and copies them once. */
class BodyPieces {
  readonly #pieces: Uint8Array[] = [];

  add(name: string, bytes: Uint8Array, { start, end }: JsonSpan): void {
    this.addWritten(Buffer.from(`${JSON.stringify(name)}:`));
    this.#pieces.push(bytes.subarray(start, end));
  }

  /** Adds a name, or a name with its value, as the caller wrote it. */
  addWritten(text: Uint8Array): void {
    this.#pieces.push(this.#pieces.length === 0 ? OPENING_BRACE : COMMA, text);
  }

  join(): Uint8Array {
    if (this.#pieces.length === 0) this.#pieces.push(OPENING_BRACE);
    return Buffer.concat([...this.#pieces, CLOSING_BRACE]);
  }
}

function unmappable(reason: string): { unmappable: string } {
  return { unmappable: reason };
}

function describeMistake({ name, message }: BindingError, secrets: readonly string[]): Fault {
  const fault = { name: `builtins.${name}`, message, arguments: [message], context: {} };
  return classifyFault(fault, { debug: false, secrets });
}
