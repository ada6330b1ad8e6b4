/** Finds the problems of a JSON text: its first syntax error, and faults of members that the proxy has reported. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import type { EditorState } from '@codemirror/state';
import { locatePath, type Span } from './locate-path.ts';

/**
 * `path` has the form of a problem's faults, e.g. `models["res.*"][0]`. The message continues a sentence that begins
 * with the path.
 */
export type JsonFault = { message: string } & ({ path: string } | { offset: number });

export interface Problem extends Diagnostic {
  /** Line number from 1. */
  line: number;
}

/** The part of an engine's message that quotes or locates the error, which the editor marks anyway. */
const EXCERPT = /(, [".].* is not valid JSON|( in JSON)? at position \d+.*)$/s;

const PARSE_MS = 100;

export function findProblems(state: EditorState, faults: readonly JsonFault[]): Problem[] {
  const text = state.doc.toString();
  const found = faults.map((fault) => describe(state, locateFault(state, text, fault), printFault(fault)));
  const mistake = findMistake(state, text);
  return mistake === null ? found : [mistake, ...found];
}

/** Finds the first syntax error. An empty text is not reported: the form says itself that a value is required. */
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

/** Position of the error by the editor's parser, because not every engine tells it. */
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
