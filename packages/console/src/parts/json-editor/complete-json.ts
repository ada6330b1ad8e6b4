/** Completion of JSON: finds the cursor's place in the text, and asks the parent component for suggestions. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  pickedCompletion,
} from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorView } from '@codemirror/view';
import { listValues, type Node, readName, type Tree } from './locate-path.ts';

/** A place in a JSON text. */
export interface JsonPlace {
  /** `name`: the name of a member of the object at `path`. `value`: the value at `path`. */
  expects: 'name' | 'value';
  path: (string | number)[];
  /** The previous element of the array, if it is a string; otherwise null. */
  previous: string | null;
}

export interface JsonSuggestion {
  /** The suggested value, or the name of a member. */
  value: string | number | boolean | null;
  detail?: string;
}

export type SuggestJson = (
  place: JsonPlace,
) => readonly JsonSuggestion[] | Promise<readonly JsonSuggestion[]>;

export async function completeJson(
  context: CompletionContext,
  suggest: SuggestJson | undefined,
): Promise<CompletionResult | null> {
  const { state, pos, explicit } = context;
  if (suggest === undefined) return null;
  const { place, from, to } = findPlace(syntaxTree(state), state.doc.toString(), pos);
  if (from === pos && !explicit) return null;
  const suggestions = await suggest(place);
  const colon = place.expects === 'name' && !/^\s*:/.test(state.sliceDoc(to, to + 20)) ? ': ' : '';
  // Options are matched with the text before the cursor only: a closing quote after it would match none.
  const behind = to - pos;
  return {
    from,
    options: suggestions.map(({ value, detail }) => {
      const label = JSON.stringify(value);
      return {
        label,
        displayLabel: String(value),
        apply: (view: EditorView, completion: Completion, start: number, end: number) =>
          view.dispatch({
            ...insertCompletionText(view.state, label + colon, start, end + behind),
            annotations: pickedCompletion.of(completion),
          }),
        ...(detail === undefined ? {} : { detail }),
      };
    }),
    validFor: /^"?[^"\s,:[\]{}]*$/,
  };
}

/** Returns the place at an offset, and the span of the token at that offset. */
export function findPlace(
  tree: Tree,
  text: string,
  offset: number,
): { place: JsonPlace; from: number; to: number } {
  const token = findToken(tree, text, offset);
  let node: Node | null = tree.resolveInner(token.from, token.from === offset ? -1 : 1);
  // Goes up to the node that contains the offset: a container that ends there has a closing bracket and does not.
  while (node !== null && !isAround(node, token.from)) node = node.parent;
  const path = node === null ? [] : listSteps(node, text);
  switch (node?.name) {
    case 'Object':
      return { place: { expects: 'name', path, previous: null }, ...token };
    case 'Property': {
      const isName = !text
        .slice(node.from, token.from)
        .replace(/^"(?:[^"\\]|\\.)*"/, '')
        .includes(':');
      const expects = isName ? 'name' : 'value';
      return { place: { expects, path: isName ? path.slice(0, -1) : path, previous: null }, ...token };
    }
    case 'Array': {
      const before = listValues(node).filter((value) => value.to <= token.from);
      const last = before.at(-1);
      const previous = last?.name === 'String' ? readName(text.slice(last.from, last.to)) : null;
      return { place: { expects: 'value', path: [...path, before.length], previous }, ...token };
    }
    default:
      return { place: { expects: 'value', path: [], previous: null }, ...token };
  }
}

/** The string or word that contains the offset or ends at it. */
function findToken(tree: Tree, text: string, offset: number): { from: number; to: number } {
  const node = tree.resolveInner(offset, -1);
  if (node.name === 'String' || node.name === 'PropertyName') return { from: node.from, to: node.to };
  const word = /"?[\w.]*$/.exec(text.slice(Math.max(0, offset - 200), offset))?.[0] ?? '';
  return { from: offset - word.length, to: offset };
}

function isAround({ name, from, to, lastChild }: Node, offset: number): boolean {
  if (name === 'Property') return from <= offset && offset <= to;
  const isClosed = lastChild?.name === '}' || lastChild?.name === ']';
  return (name === 'Object' || name === 'Array') && from < offset && (!isClosed || offset < to);
}

/** The path of a container or property. */
function listSteps(start: Node, text: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let node: Node | null = start; node !== null; node = node.parent) {
    if (node.name === 'Property') {
      const name = node.getChild('PropertyName');
      steps.unshift(name === null ? '' : readName(text.slice(name.from, name.to)));
    } else if (node.parent?.name === 'Array') {
      const { from } = node;
      steps.unshift(listValues(node.parent).findIndex((value) => value.from === from));
    }
  }
  return steps;
}
