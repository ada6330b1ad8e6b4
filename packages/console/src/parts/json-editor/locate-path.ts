/** Finds the place of a member in a JSON text by its path. */
import type { syntaxTree } from '@codemirror/language';

export type Tree = ReturnType<typeof syntaxTree>;
export type Node = Tree['topNode'];

export interface Span {
  from: number;
  to: number;
}

/**
 * The span of the member's name, or of the element's first line. If the text lacks a part of the path, the span of the
 * last part that it has.
 */
export function locatePath(tree: Tree, text: string, path: string): Span {
  let value = tree.topNode.firstChild;
  let span: Span = { from: 0, to: 0 };
  for (const step of splitPath(path)) {
    const next = value === null ? null : enter(value, text, step);
    if (next === null) break;
    span = next.name ?? { from: next.value.from, to: findLineEnd(text, next.value) };
    value = next.value;
  }
  return span;
}

/** Splits a path: `models["res.*"][0]` → `models`, `res.*`, 0. */
function splitPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, name]) => {
      if (quoted !== undefined) return readName(quoted);
      return index === undefined ? (name ?? '') : Number(index);
    },
  );
}

/** Decodes a JSON string. An invalid one is returned as it is. */
export function readName(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.replaceAll('"', '');
  }
}

function enter(parent: Node, text: string, step: string | number): { value: Node; name?: Span } | null {
  if (typeof step === 'number') {
    const value = listValues(parent)[step];
    return value === undefined ? null : { value };
  }
  for (const property of parent.getChildren('Property')) {
    const name = property.getChild('PropertyName');
    if (name !== null && readName(text.slice(name.from, name.to)) === step) {
      return { name: { from: name.from, to: name.to }, value: property.lastChild ?? name };
    }
  }
  return null;
}

/** Lists the elements of an array. */
export function listValues(array: Node): Node[] {
  const values: Node[] = [];
  for (let child = array.firstChild; child !== null; child = child.nextSibling) {
    if (/^[A-Z]/.test(child.name)) values.push(child);
  }
  return values;
}

function findLineEnd(text: string, { from, to }: Span): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? to : Math.min(end, to);
}
