/**
 * The state of the playground's form, and the call that it describes. Each argument is kept as JSON text, even while it
 * is invalid: fields, rows and editors are views of the same text. Contains no secrets.
 */
import { type Json, tryParse } from '@erp-proxy/contract';
import type { CallParts } from '../../parts/print-call.ts';

export interface CallForm {
  /** Name of the stored instance; empty: a server by its address. */
  instance: string;
  url: string;
  db: string;
  user: string;
  /** Id of the key whose policy applies; empty: no policy. */
  key: string;
  model: string;
  action: string;
  /** JSON texts by name of the argument. An empty or absent one is not sent. */
  args: Record<string, string>;
  values: 'raw' | 'normalized';
}

/** A method as the proxy knows it; `params` is null for an unknown method. */
export interface Method {
  params: { name: string; required?: true }[] | null;
  kind: 'read' | 'write' | 'delete' | 'unknown';
}

/** A row of the table of methods. `model` is null if the row applies to every model. */
export interface KnownMethod extends Method {
  action: string;
  model: string | null;
}

export function findMethod(methods: readonly KnownMethod[], model: string, action: string): Method {
  const found = methods.filter((method) => method.action === action);
  return (
    found.find((method) => method.model === model) ??
    found.find((method) => method.model === null) ?? { params: null, kind: 'unknown' }
  );
}

/** Actions for completion. Those that only this model has come first. */
export function listActions(methods: readonly KnownMethod[], model: string): string[] {
  const known = methods.filter((method) => method.model === null || method.model === model);
  return [
    ...new Set(
      known
        .toSorted((a, b) => Number(a.model === null) - Number(b.model === null))
        .map(({ action }) => action),
    ),
  ];
}

export interface Mistake {
  /** Name of the argument or member. */
  name: string;
  message: string;
}

export const EMPTY_FORM: CallForm = {
  instance: '',
  url: '',
  db: '',
  user: '',
  key: '',
  model: '',
  action: 'search_read',
  // A limit, because a table of Odoo can have millions of records.
  args: { limit: '20' },
  values: 'raw',
};

/** Arguments of methods with unknown parameters. */
export const POSITIONAL = 'params';
export const NAMED = 'keyword';
export const CONTEXT = 'context';

/** Names of the arguments that the form shows for a method, in their order. */
export function listArguments({ params }: Pick<Method, 'params'>): string[] {
  return [...(params === null ? [POSITIONAL, NAMED] : params.map(({ name }) => name)), CONTEXT];
}

/** `mistakes`: reasons why the call cannot be sent; `call` then has the valid parts only. */
export function buildCall(form: CallForm, method: Method): { call: CallParts; mistakes: Mistake[] } {
  const mistakes: Mistake[] = [];
  if (form.model === '') mistakes.push({ name: 'model', message: 'Choose a model.' });
  if (form.action === '') mistakes.push({ name: 'action', message: 'Choose an action.' });
  const read = (name: string) => readArgument(form.args[name], name, mistakes);
  const parts: CallParts = { model_id: form.model, action: form.action, params: [], keyword: {} };
  if (method.params === null) {
    const params = read(POSITIONAL);
    if (Array.isArray(params)) parts.params = params;
    else if (params !== undefined) mistakes.push({ name: POSITIONAL, message: 'must be a list' });
    const named = read(NAMED);
    if (isObject(named)) parts.keyword = { ...named };
    else if (named !== undefined) mistakes.push({ name: NAMED, message: 'must be an object' });
  } else {
    arrange(method.params, read, parts, mistakes);
  }
  const context = read(CONTEXT);
  if (isObject(context)) parts.keyword['context'] = context;
  else if (context !== undefined) mistakes.push({ name: CONTEXT, message: 'must be an object' });
  return { call: parts, mistakes };
}

/**
 * Passes required arguments and the first one by position, which every version of Odoo accepts, and the others by name.
 */
function arrange(
  params: NonNullable<Method['params']>,
  read: (name: string) => Json | undefined,
  parts: CallParts,
  mistakes: Mistake[],
): void {
  let isPositional = true;
  for (const [index, { name, required = false }] of params.entries()) {
    const before = mistakes.length;
    const value = read(name);
    isPositional &&= value !== undefined && (required || index === 0);
    if (value === undefined) {
      if (required && mistakes.length === before) mistakes.push({ name, message: 'is required' });
    } else if (isPositional) parts.params.push(value);
    else parts.keyword[name] = value;
    if (name === 'domain' && hasOpenCondition(value)) {
      mistakes.push({ name, message: 'has a condition without a field' });
    }
  }
}

function readArgument(text: string | undefined, name: string, mistakes: Mistake[]): Json | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = tryParse(text) as Json | undefined;
  const changed = value === undefined ? undefined : findUnsafeInteger(text);
  if (value === undefined) mistakes.push({ name, message: 'is not valid JSON' });
  if (changed !== undefined) {
    mistakes.push({ name, message: `has ${changed}, which this page would change. Send it by code` });
  }
  return value;
}

/** Finds the first integer of a valid JSON text that has more digits than a number of JavaScript can hold. */
function findUnsafeInteger(text: string): string | undefined {
  const numbers = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.find((number) => Number.isInteger(Number(number)) && !Number.isSafeInteger(Number(number)));
}

function hasOpenCondition(domain: Json | undefined): boolean {
  return Array.isArray(domain) && domain.some((item) => Array.isArray(item) && item[0] === '');
}

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets the text of an argument to a value; undefined removes the argument. */
export function setArgument(args: CallForm['args'], name: string, value: Json | undefined): CallForm['args'] {
  const { [name]: _, ...others } = args;
  return value === undefined ? others : { ...others, [name]: JSON.stringify(value) };
}

/** The value of an argument; undefined if it is absent or invalid. */
export function getArgument(args: CallForm['args'], name: string): Json | undefined {
  return readArgument(args[name], name, []);
}
