/**
 * Reads YAML strictly into values with their lines. Ambiguous content is refused: duplicate names, aliases and tags.
 * Does not know the meaning of the values.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { explainYamlError, NAME_TWICE } from '../../config/read-settings-file.ts';

export interface LineError {
  line: number;
  message: string;
}

/** A value and its line; for a member, the line of its name. */
export type Located = LocatedMap | LocatedList | LocatedScalar;

export interface LocatedMap {
  kind: 'map';
  line: number;
  members: ReadonlyMap<string, Located>;
}

interface LocatedList {
  kind: 'list';
  line: number;
  items: readonly Located[];
}

interface LocatedScalar {
  kind: 'scalar';
  line: number;
  value: string | number | boolean | null;
}

export function readDocument(text: string, ending: Ending): { root: Located } | { errors: LineError[] } {
  const lines = new LineCounter();
  // `uniqueKeys` is off: the parser would compare each name with all others of its map, which takes seconds for 16,000
  // names.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const errors = new Map<number, LineError>();
  const report = (line: number, message: string) => {
    // Keeps the first error of a line, because the parser often reports one mistake several times.
    if (!errors.has(line)) errors.set(line, { line, message });
  };
  const lineOf = (node: Node | null, fallback: number) =>
    node?.range ? lines.linePos(node.range[0]).line : fallback;

  for (const error of [...document.errors, ...document.warnings]) {
    report(lines.linePos(error.pos[0]).line, explainYamlError(error));
  }
  const unended = explainEnding(text, document, ending);
  if (unended !== null) report(lines.linePos(text.trimEnd().length).line, unended);
  const root = locate(document.contents, lineOf(document.contents, 1));
  return errors.size > 0 ? { errors: [...errors.values()] } : { root };

  function locate(node: Node | null, line: number): Located {
    // An empty value would be read as null, which can grant everything.
    if (node === null || (isScalar(node) && node.source === '' && node.type === 'PLAIN')) {
      report(line, 'a value is missing: is the file whole? Where none is meant, write null');
    }
    if (isMap<Node, Node | null>(node)) {
      const members = new Map<string, Located>();
      for (const { key, value } of node.items) {
        const keyLine = lineOf(key, line);
        if (isScalar(key) && typeof key.value === 'string') {
          if (members.has(key.value)) report(keyLine, NAME_TWICE);
          members.set(key.value, locate(value, keyLine));
        } else report(keyLine, 'the name of a member must be plain text; put it into quotes');
      }
      return { kind: 'map', line, members };
    }
    if (isSeq<Node | null>(node)) {
      return { kind: 'list', line, items: node.items.map((item) => locate(item, lineOf(item, line))) };
    }
    if (isAlias(node))
      report(line, 'aliases (*name) are not taken here; policies share members by `extends`');
    const value = isScalar(node) ? node.value : null;
    if (isPlain(value)) return { kind: 'scalar', line, value };
    report(line, 'this value is not one of JSON: a text, a finite number, true, false or null');
    return { kind: 'scalar', line, value: null };
  }
}

/** Returns the value without its lines. */
export function toValue(located: Located): unknown {
  switch (located.kind) {
    case 'map':
      return Object.fromEntries([...located.members].map(([name, member]) => [name, toValue(member)]));
    case 'list':
      return located.items.map(toValue);
    default:
      return located.value;
  }
}

/** The line of the member at a path such as `models["res.*"][0]`, or of the nearest member that contains it. */
export function findLine(located: Located, path: string): number {
  let found = located;
  for (const [, quoted, index, name] of path.matchAll(/\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|([^.[\]]+)/g)) {
    const next =
      found.kind === 'map'
        ? found.members.get(quoted === undefined ? (name ?? '') : JSON.parse(quoted))
        : found.kind === 'list'
          ? found.items[Number(index)]
          : undefined;
    if (next === undefined) break;
    found = next;
  }
  return found.line;
}

function isPlain(value: unknown): value is LocatedScalar['value'] {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  return typeof value === 'number' && Number.isFinite(value);
}

/**
 * The required end of a YAML text: a text that was cut off within its last line can look complete, and grant more.
 * `closed`: a line break, or the bracket that closes the whole document. `line break`: a line break as the last byte.
 * `end mark`: a line break and YAML's document end marker, a line `...`.
 */
type Ending = 'closed' | 'line break' | 'end mark';

/** Explains what is wrong with the ending; null if it is right. */
function explainEnding(text: string, document: Document, ending: Ending): string | null {
  const { contents } = document;
  const isClosed = isCollection(contents) && contents.flow === true;
  if (!text.endsWith('\n') && !(ending === 'closed' && isClosed)) {
    return 'the last line has no line break: is the file whole? If it is, add the line break';
  }
  if (ending === 'end mark' && document.directives?.docEnd !== true) {
    return 'the end mark is missing: is the file whole? If it is, add a last line "..."';
  }
  return null;
}
