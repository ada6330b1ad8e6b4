/**
 * Renders Helm templates as far as the chart needs that: the actions and functions below, with Go's rules for blanks
 * and empty values. All other syntax is refused, so that the chart uses no syntax that the tests do not check.
 * Independent of the chart.
 */
import { createHash } from 'node:crypto';
import { parse as parseYaml, stringify } from 'yaml';

/** The files of a chart's folder `templates`, by name. */
export type Templates = Readonly<Record<string, string>>;

type Node =
  | { is: 'text'; text: string }
  | { is: 'value'; pipeline: string }
  | { is: 'if' | 'with' | 'range'; pipeline: string; body: Node[]; otherwise: Node[] };

/** `$` is the data of the template; `.` changes within `with` and `range`. */
interface Scope {
  root: unknown;
  dot: unknown;
}

/** Returns the text of each file that is not a helper. `data` has `.Values`, `.Release` and so on. */
export function renderTemplates(templates: Templates, data: object): Record<string, string> {
  const definitions = new Map<string, Node[]>();
  const files = new Map<string, Node[]>();
  for (const [name, text] of Object.entries(templates)) files.set(name, parse(text, definitions));
  const rendered = [...files].filter(([name]) => !name.startsWith('_'));
  return Object.fromEntries(rendered.map(([name, nodes]) => [name, print(nodes, { root: data, dot: data })]));

  function print(nodes: Node[], scope: Scope): string {
    return nodes.map((node) => printNode(node, scope)).join('');
  }

  function printNode(node: Node, scope: Scope): string {
    if (node.is === 'text') return node.text;
    const value = evaluate(node.pipeline, scope);
    if (node.is === 'value') return printValue(value);
    if (isEmpty(value)) return print(node.otherwise, scope);
    if (node.is === 'if') return print(node.body, scope);
    const dots = node.is === 'with' ? [value] : (value as unknown[]);
    return dots.map((dot) => print(node.body, { ...scope, dot })).join('');
  }

  /** A pipeline passes the value before each `|` to the function after it, as its last argument. */
  function evaluate(pipeline: string, scope: Scope): unknown {
    const stages: unknown[][] = [[]];
    for (const token of splitPipeline(pipeline)) {
      if (token === '|') stages.push([]);
      else stages.at(-1)?.push(readOperand(token, scope));
    }
    let value: unknown;
    for (const [index, [first, ...named]] of stages.entries()) {
      // A function among the operands is called without arguments.
      const more = named.map((operand) => (typeof operand === 'function' ? operand() : operand));
      const operands = index === 0 ? more : [...more, value];
      if (typeof first !== 'function' && operands.length > 0) throw new Error(`not a function: ${pipeline}`);
      value = typeof first === 'function' ? first(...operands) : first;
    }
    return value;
  }

  function readOperand(token: string, scope: Scope): unknown {
    if (token.startsWith('(')) return evaluate(token.slice(1, -1), scope);
    if (token.startsWith('"')) return JSON.parse(token);
    if (/^\d+$/.test(token)) return Number(token);
    if (/^\$?\.?(\w+(\.\w+)*)?$/.test(token) && /^[$.]/.test(token)) {
      const path = token.split('.').filter((name) => name !== '' && name !== '$');
      return path.reduce(readMember, token.startsWith('$') ? scope.root : scope.dot);
    }
    if (token === 'include') return include;
    const found = FUNCTIONS.get(token);
    if (found === undefined) throw new Error(`helm-template.ts does not know "${token}"`);
    return found;
  }

  function include(name: string, dot: unknown): string {
    const nodes = definitions.get(name);
    if (nodes === undefined) throw new Error(`there is no template "${name}"`);
    return print(nodes, { root: dot, dot });
  }
}

/** The operands of a pipeline, including its `|`. A group in parentheses is one operand. */
function splitPipeline(pipeline: string): string[] {
  const tokens: string[] = [];
  let depth = 0;
  for (const [piece] of pipeline.matchAll(/"(?:[^"\\]|\\.)*"|[()|]|\s+|[^\s()|"]+/g)) {
    const isInside = depth > 0;
    if (piece === '(') depth++;
    if (piece === ')') depth--;
    if (isInside) tokens.push(`${tokens.pop()}${piece}`);
    else if (piece.trim() !== '') tokens.push(piece);
  }
  if (depth !== 0) throw new Error(`a parenthesis is missing: ${pipeline}`);
  return tokens;
}

/** Helm reads every number as a float, and Go prints floats from a million on with an exponent. */
function printValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Int) return String(value.value);
  if (typeof value !== 'number' || Math.abs(value) < 1e6) return String(value);
  return value.toExponential().replace(/e\+(\d)$/, 'e+0$1');
}

/** The result of `int`: Go prints integers with all digits. */
class Int {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

const readNumber = (value: unknown): number => (value instanceof Int ? value.value : Number(value));

/** Every value that a template uses must be in values.yaml: a missing one is an error here. */
function readMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
    throw new Error(`there is no value "${name}"`);
  }
  return (value as Record<string, unknown>)[name];
}

// biome-ignore lint/suspicious/noExplicitAny: templates have no types
const FUNCTIONS = new Map<string, (...operands: any[]) => unknown>([
  ['add', (one, other) => new Int(readNumber(one) + readNumber(other))],
  ['and', (one, other) => (isEmpty(one) ? one : other)],
  ['default', (fallback, value) => (isEmpty(value) ? fallback : value)],
  ['dict', (...entries) => Object.fromEntries(pairUp(entries))],
  ['dig', (...path) => dig(path.slice(0, -2), path.at(-2), path.at(-1))],
  [
    'fail',
    (message: string) => {
      throw new Error(message);
    },
  ],
  ['fromYaml', (text: string) => parseYaml(text, { version: '1.1' })],
  ['gt', (one, other) => readNumber(one) > readNumber(other)],
  ['int', (value) => new Int(Math.trunc(Number(value)))],
  ['le', (one, other) => readNumber(one) <= readNumber(other)],
  ['list', (...entries) => entries],
  ['lower', (text: string) => text.toLowerCase()],
  // The first dictionary wins.
  ['merge', (first: object, second: object) => ({ ...second, ...first })],
  ['mul', (one, other) => new Int(readNumber(one) * readNumber(other))],
  ['ne', (one, other) => one !== other],
  ['nindent', (width, text: string) => `\n${text.replaceAll(/^/gm, ' '.repeat(width))}`],
  ['not', (value) => isEmpty(value)],
  [
    'printf',
    (format: string, ...values) => values.reduce((text, value) => text.replace('%s', value), format),
  ],
  ['quote', (value) => JSON.stringify(printValue(value))],
  [
    'regexReplaceAll',
    (pattern: string, text: string, next: string) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how Go names the whole match
      text.replaceAll(new RegExp(pattern, 'g'), next.replaceAll('${0}', '$$&')),
  ],
  ['replace', (old: string, next: string, text: string) => text.replaceAll(old, next)],
  ['sha256sum', (text: string) => createHash('sha256').update(text).digest('hex')],
  ['toJson', (value) => JSON.stringify(value)],
  ['toYaml', (value) => stringify(value, { version: '1.1' }).trimEnd()],
  [
    'trimSuffix',
    (suffix: string, text: string) => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text),
  ],
  ['trunc', (length: number, text: string) => text.slice(0, length)],
  ['upper', (text: string) => text.toUpperCase()],
]);

function pairUp(entries: unknown[]): [string, unknown][] {
  return entries.flatMap((name, index) =>
    index % 2 === 0 ? [[String(name), entries[index + 1]] as [string, unknown]] : [],
  );
}

/** The member at a path of names, or the fallback. Sprig's function fails if a value on the path is not a map. */
function dig(path: readonly string[], fallback: unknown, value: unknown): unknown {
  const [name, ...more] = path;
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null) throw new Error(`dig "${name}": not a map`);
  if (!Object.hasOwn(value, name)) return fallback;
  return dig(more, fallback, (value as Record<string, unknown>)[name]);
}

/** Values that Go treats as false. */
function isEmpty(value: unknown): boolean {
  if (value instanceof Int) return value.value === 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

/** Adds the contents of `define` to `definitions`. */
function parse(text: string, definitions: Map<string, Node[]>): Node[] {
  const trimmed = text.replaceAll(/\s*\{\{- /g, '{{ ').replaceAll(/ -\}\}\s*/g, ' }}');
  const top: Node[] = [];
  const open = [top];
  for (const piece of trimmed.split(/(\{\{.*?\}\})/s)) {
    const [, action] = /^\{\{(.*)\}\}$/s.exec(piece) ?? [];
    const body = open.at(-1) ?? [];
    if (action === undefined) {
      body.push({ is: 'text', text: piece });
      continue;
    }
    const [, word = '', pipeline = ''] =
      /^(?:(if|with|range|define|else|end)\b)?\s*(.*)$/s.exec(action.trim()) ?? [];
    if (action.trim().startsWith('/*')) continue;
    if (word === 'end') open.pop();
    else if (word === 'else') turnToElse();
    else if (word === '') body.push({ is: 'value', pipeline });
    else open.push(begin(word, pipeline, body));
    if (open.length === 0) throw new Error('there is an "end" too many');
  }
  if (open.length > 1) throw new Error('there is an "end" missing');
  return top;

  function turnToElse(): void {
    open.pop();
    const last = open.at(-1)?.at(-1);
    if (last === undefined || !('otherwise' in last)) throw new Error('an "else" belongs to nothing');
    open.push(last.otherwise);
  }

  function begin(word: string, pipeline: string, body: Node[]): Node[] {
    const own: Node[] = [];
    if (word === 'define') definitions.set(JSON.parse(pipeline), own);
    else body.push({ is: word as 'if' | 'with' | 'range', pipeline, body: own, otherwise: [] });
    return own;
  }
}
