/** Finds what is wrong with a JSON text: its syntax, and what others say about members of it. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import type { EditorState } from '@codemirror/state';
import { locatePath, type Span } from './locate-path.ts';

/** `path` as in the faults of a problem, e.g. `models["res.*"][0]`; the message continues it. */
export type JsonFault = { message: string } & ({ path: string } | { offset: number });

export interface Problem extends Diagnostic {
  /** From 1. */
  line: number;
}

/** What an engine says about the place; the editor shows it. */
const EXCERPT = /(, [".].* is not valid JSON|( in JSON)? at position \d+.*)$/s;

const PARSE_MS = 100;

export function findProblems(state: EditorState, faults: readonly JsonFault[]): Problem[] {
  const text = state.doc.toString();
  const found = faults.map((fault) => describe(state, locateFault(state, text, fault), printFault(fault)));
  const mistake = findMistake(state, text);
  return mistake === null ? found : [mistake, ...found];
}

/** The first mistake of syntax. An empty text is none: a form says itself that it needs a value. */
function findMistake(state: EditorState, text: string): Problem | null {
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)/.exec(message)?.[1];
    const from = Math.min(position === undefined ? findErrorNode(state) : Number(position), text.length);
    return describe(state, { from, to: from }, message.replace(EXCERPT, ''));
  }
}

/** Engines do not always tell the position; the parser of the editor has marked it. */
function findErrorNode(state: EditorState): number {
  let position: number | null = null;
  readTree(state).iterate({
    enter({ type, from }) {
      if (type.isError) position ??= from;
      return position === null;
    },
  });
  return position ?? state.doc.length;
}

function locateFault(state: EditorState, text: string, fault: JsonFault): Span {
  if ('path' in fault) return locatePath(readTree(state), text, fault.path);
  const from = Math.min(fault.offset, text.length);
  return { from, to: from };
}

function printFault(fault: JsonFault): string {
  return 'path' in fault && fault.path !== '' ? `${fault.path} ${fault.message}` : fault.message;
}

function readTree(state: EditorState) {
  return ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
}

function describe(state: EditorState, { from, to }: Span, message: string): Problem {
  return { from, to, message, severity: 'error', line: state.doc.lineAt(from).number };
}
