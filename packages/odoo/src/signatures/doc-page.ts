/**
 * Reads the signatures of a model's methods from `/doc-bearer/<model>.json` (docs/odoo-facts.md#doc-page). A page of an
 * unexpected shape is refused, and a method with an unexpected description is omitted, because an argument must never
 * get a wrong name. Does not fetch the page; the caller bounds its length.
 */
import { isObject } from '@erp-proxy/json';
import type { Parameter, ParameterKind, Signature } from './signature.ts';

export type DocPage =
  | { signatures: ReadonlyMap<string, Signature> }
  /** Why the page is refused; for the log. */
  | { refusal: string };

/**
 * `model` is the requested model. The pages of all models share one ETag (docs/odoo-facts.md#doc-etag), so a cache can
 * return the page of another model.
 */
export function readDocPage(bytes: Uint8Array, model: string): DocPage {
  let page: unknown;
  try {
    page = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { refusal: 'the page is not JSON' };
  }
  if (!isObject(page)) return { refusal: 'the page is not an object' };
  if (page['model'] !== model) return { refusal: 'the page is not about the model that was asked for' };
  const methods = page['methods'];
  if (!isObject(methods)) return { refusal: 'the page lists no methods' };
  const signatures = new Map<string, Signature>();
  for (const [name, method] of Object.entries(methods)) {
    const signature = IDENTIFIER.test(name) ? readMethod(method) : null;
    if (signature !== null) signatures.set(name, signature);
  }
  return { signatures };
}

/** Known markers of a method. A method with any other marker is omitted. */
const MARKS: ReadonlySet<unknown> = new Set(['model', 'readonly']);

function readMethod(method: unknown): Signature | null {
  if (!isObject(method)) return null;
  const { parameters: described, signature: text, api: marks = [] } = method;
  if (!isObject(described) || typeof text !== 'string') return null;
  if (!Array.isArray(marks) || !marks.every((mark) => MARKS.has(mark))) return null;
  const parameters = readParameters(described, text);
  if (parameters === null) return null;
  return { kind: marks.includes('model') ? 'model' : 'ids', parameters, isPrivate: false };
}

/** Maximum number of parameters; methods have far fewer. */
const PARAMETERS_MAX = 200;
const SIGNATURE_LENGTH_MAX = 20_000;
/** Python allows more letters and longer names. Such names are rare; their methods are omitted. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const KINDS: ReadonlyMap<unknown, ParameterKind> = new Map([
  [undefined, 'positional'],
  ['POSITIONAL_ONLY', 'positional_only'],
  ['POSITIONAL_OR_KEYWORD', 'positional'],
  ['VAR_POSITIONAL', 'var_positional'],
  ['KEYWORD_ONLY', 'keyword_only'],
  ['VAR_KEYWORD', 'var_keyword'],
]);

function readParameters(described: Record<string, unknown>, text: string): Parameter[] | null {
  const entries = Object.entries(described);
  if (entries.length > PARAMETERS_MAX) return null;
  const written = splitParameters(text);
  if (written?.length !== entries.length) return null;
  const parameters: Parameter[] = [];
  for (const [index, [name, description]] of entries.entries()) {
    if (!IDENTIFIER.test(name) || !isObject(description)) return null;
    const kind = KINDS.get(description['kind']);
    const [, writtenName, equals] = WRITTEN_PARAMETER.exec(written[index] ?? '') ?? [];
    if (kind === undefined || writtenName !== name) return null;
    const isVariadic = kind === 'var_positional' || kind === 'var_keyword';
    const isRequired = !isVariadic && !('default' in description) && equals === undefined;
    parameters.push({ name, kind, isRequired });
  }
  return isPythonOrder(parameters) ? parameters : null;
}

/** Matches `name`, `name=default`, `name: type`, and `name: type = default`. */
const WRITTEN_PARAMETER = /^ ?\*{0,2}(\w+)(?: ?:[^=]*)?(?: ?(=)|$)/;

/**
 * The parameters in the order of the signature's text. Many tools change the order of an object's members, and with it
 * the positions of arguments. Null if the text is not a list in parentheses.
 */
function splitParameters(text: string): string[] | null {
  if (text[0] !== '(' || text.length > SIGNATURE_LENGTH_MAX) return null;
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [token] = found;
    if (OPENING.has(token)) depth++;
    if (CLOSING.has(token)) depth--;
    const isEnd = depth === 0;
    if (!isEnd && !(token === ',' && depth === 1)) continue;
    parts.push(text.slice(start, found.index));
    if (isEnd) return parts.length === 1 && parts[0] === '' ? [] : parts;
    if (parts.length > PARAMETERS_MAX) return null;
    start = TOKEN.lastIndex;
  }
  return null;
}

/**
 * A string as Python prints it, or a character that ends a parameter. An unterminated string extends to the end;
 * otherwise each quote would start a new search.
 */
const TOKEN = /'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[()[\]{},]/gs;
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

const ORDER: readonly ParameterKind[] = [
  'positional_only',
  'positional',
  'var_positional',
  'keyword_only',
  'var_keyword',
];

/**
 * Whether the kinds are in order, there is at most one `*args` and one `**kwargs`, and no required parameter follows an
 * optional one.
 */
function isPythonOrder(parameters: readonly Parameter[]): boolean {
  return parameters.every((parameter, index) => {
    const before = parameters[index - 1];
    if (before === undefined) return true;
    const step = ORDER.indexOf(parameter.kind) - ORDER.indexOf(before.kind);
    if (step < 0 || (step === 0 && parameter.kind.startsWith('var_'))) return false;
    const isPositional = parameter.kind === 'positional_only' || parameter.kind === 'positional';
    return !(isPositional && parameter.isRequired && !before.isRequired);
  });
}
