/** Mounts CodeMirror for JSON. json-editor.tsx and json-view.tsx load it when they are shown. */
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
  /** Id of the element that labels it. */
  labelId: string;
  text: string;
  /** Without it the text can be read only. */
  onChange?: (text: string) => void;
  suggest?: SuggestJson | undefined;
  faults?: readonly JsonFault[] | undefined;
  placeholder?: string | undefined;
  /** Reports the first problem after each look for problems. */
  onProblem?: (problem: Problem | null) => void;
  minHeight: number;
  maxHeight: number;
}

/** Marks changes that do not come from the person. */
const isFromOutside = Annotation.define<true>();

/** Asks for a new look at the same text. */
const faultsChanged = StateEffect.define<null>();

const NO_FAULTS: readonly JsonFault[] = [];

export default function CodeMirror(props: CodeMirrorProps) {
  const { labelId, text, faults = NO_FAULTS, minHeight, maxHeight, placeholder } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  /** The text as the owner knows it. */
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
    // Text from Odoo: invisible characters are shown, and strings keep their direction to themselves.
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
      // Ctrl+Enter belongs to the page.
      ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}
