/** Mounts CodeMirror for JSON. json-editor.tsx and json-view.tsx load this file when they are shown. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bidiIsolates, bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Annotation, EditorState, type Extension, StateEffect } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, placeholder as showPlaceholder } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { completeJson, type SuggestJson } from './complete-json.ts';
import { colorJson, createTheme } from './editor-theme.ts';
import { findChange } from './find-change.ts';
import { findProblems, type JsonFault, type Problem } from './find-problems.ts';

interface CodeMirrorProps {
  /** Id of the element with the editor's label. */
  labelId: string;
  text: string;
  /** Left out if the text is read-only. */
  onChange?: (text: string) => void;
  suggest?: SuggestJson | undefined;
  faults?: readonly JsonFault[] | undefined;
  placeholder?: string | undefined;
  /** Called after each check of the text, with the first problem, or null. */
  onProblem?: (problem: Problem | null) => void;
  minHeight: number;
  maxHeight: number;
}

/** Marks changes that were not typed by the person. */
const isFromOutside = Annotation.define<true>();

/** Asks to check the same text again. */
const faultsChanged = StateEffect.define<null>();

const NO_FAULTS: readonly JsonFault[] = [];

export default function CodeMirror(props: CodeMirrorProps) {
  const { labelId, text, faults = NO_FAULTS, minHeight, maxHeight, placeholder } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  /** The text that the parent component has. */
  const known = useRef(text);
  const latest = useRef(props);
  const isReadOnly = props.onChange === undefined;

  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    if (host.current === null) return;
    known.current = latest.current.text;
    const created = new EditorView({
      parent: host.current,
      doc: known.current,
      extensions: [
        listSharedExtensions(labelId, minHeight, maxHeight),
        isReadOnly ? EditorState.readOnly.of(true) : listEditingExtensions(latest),
        placeholder === undefined ? [] : showPlaceholder(placeholder),
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (!docChanged || transactions.some((transaction) => transaction.annotation(isFromOutside)))
            return;
          known.current = state.doc.toString();
          latest.current.onChange?.(known.current);
        }),
      ],
    });
    view.current = created;
    return () => created.destroy();
  }, [labelId, isReadOnly, minHeight, maxHeight, placeholder]);

  useEffect(() => {
    if (view.current === null || text === known.current) return;
    view.current.dispatch({
      changes: findChange(known.current, text),
      annotations: isFromOutside.of(true),
    });
    known.current = text;
  }, [text]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the look itself reads the new faults
  useEffect(() => {
    view.current?.dispatch({ effects: faultsChanged.of(null) });
  }, [faults]);

  return <div ref={host} />;
}

function listSharedExtensions(labelId: string, minHeight: number, maxHeight: number): Extension {
  return [
    json(),
    colorJson(),
    createTheme(minHeight, maxHeight),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-labelledby': labelId, tabindex: '0' }),
    // For text from Odoo: shows invisible characters, and keeps the direction of a string from affecting the text
    // around it.
    highlightSpecialChars(),
    bidiIsolates(),
    bracketMatching(),
    foldGutter(),
    keymap.of(foldKeymap),
  ];
}

function listEditingExtensions(latest: { current: CodeMirrorProps }): Extension {
  return [
    history(),
    indentOnInput(),
    closeBrackets(),
    autocompletion({
      override: [(context) => completeJson(context, latest.current.suggest)],
      icons: false,
    }),
    linter(
      ({ state }) => {
        const problems = findProblems(state, latest.current.faults ?? NO_FAULTS);
        latest.current.onProblem?.(problems[0] ?? null);
        return problems;
      },
      {
        delay: 300,
        needsRefresh: ({ transactions }) =>
          transactions.some(({ effects }) => effects.some((effect) => effect.is(faultsChanged))),
      },
    ),
    lintGutter(),
    keymap.of([
      ...closeBracketsKeymap,
      // Ctrl+Enter is a shortcut of the page.
      ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}
