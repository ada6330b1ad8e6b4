/**
 * Finds the name that a fault calls unknown: a model, or a field or the method of a model. Matches Odoo's own texts of
 * all versions (docs/odoo-facts.md#unknown-names). A text that Odoo has translated is not recognised.
 */
import type { NameKind } from '../other-names.ts';
import type { Fault } from './faults.ts';

export interface UnknownName {
  kind: NameKind;
  /** The model of the field or method. It can differ from the call's model: a path leads to other models. */
  model: string;
  /** The unknown name itself. */
  name: string;
}

/** Null if the fault names nothing unknown, or does not say to which model the name belongs. */
export function findUnknownName(
  { data: { type, name: exception, message } }: Fault,
  { model, method }: { model: string; method: string },
): UnknownName | null {
  if (type === 'model_not_found') {
    // This exception can be about a model that a module needs.
    const isOther = exception === KEY_ERROR && unquote(message) !== model;
    return isOther ? null : { kind: 'model', model, name: model };
  }
  if (type === 'method_not_found') return { kind: 'method', model, name: method };
  if (type !== 'query_invalid') return null;
  if (exception === KEY_ERROR) {
    const field = unquote(message);
    return WRITES.has(method) && FIELD.test(field) ? { kind: 'field', model, name: field } : null;
  }
  const found = TEXTS.map((text) => text.exec(message)?.groups).find((groups) => groups !== undefined);
  const field = found?.['single'] ?? found?.['double'] ?? found?.['bare'];
  return field === undefined ? null : { kind: 'field', model: found?.['model'] ?? model, name: field };
}

const KEY_ERROR = 'builtins.KeyError';
/** Methods whose values are the only names that this exception can be about. */
const WRITES: ReadonlySet<string> = new Set(['create', 'write']);
const FIELD = /^[A-Za-z_]\w*$/;

/** A text as Python's `repr` quotes it. */
const QUOTED = `(?:'(?<single>[^']{1,200})'|"(?<double>[^"]{1,200})")`;
const TEXTS: readonly RegExp[] = [
  new RegExp(String.raw`^Invalid field ${QUOTED} (?:on model|on|in) '(?<model>[\w.]+)'`),
  /^Invalid field (?<model>\w+(?:\.\w+)*)\.(?<bare>\w+) in (?:leaf|condition) /,
  // Groupings of 14 to 16. The model is that of the call.
  new RegExp(`^Unknown field ${QUOTED} in 'groupby'`),
];

function unquote(text: string): string {
  return text.replace(/^'(.*)'$/s, '$1');
}
