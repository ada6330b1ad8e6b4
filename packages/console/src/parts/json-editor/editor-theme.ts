/** The look of JSON in CodeMirror: like Mantine's inputs, in Mantine's colours. */
import { syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';

/** CSS classes by the tags of the grammar. */
const CLASSES: Record<string, string> = {
  propertyName: 'cm-json-name',
  string: 'cm-json-string',
  number: 'cm-json-number',
  bool: 'cm-json-constant',
  null: 'cm-json-constant',
};

export function colorJson() {
  return syntaxHighlighting({ style: ([tag]) => CLASSES[String(tag)] ?? null });
}

/** One theme for light and dark mode: the variables and `light-dark()` follow Mantine's colour scheme. */
export function createTheme(minHeight: number, maxHeight: number) {
  return EditorView.theme({
    '&': {
      backgroundColor: 'var(--mantine-color-default)',
      border: '1px solid var(--mantine-color-default-border)',
      borderRadius: 'var(--mantine-radius-default)',
      color: 'var(--mantine-color-text)',
      fontSize: 'var(--mantine-font-size-xs)',
      overflow: 'hidden',
    },
    '&.cm-focused': { outline: 'none', borderColor: 'var(--mantine-primary-color-filled)' },
    '.cm-scroller': {
      fontFamily: 'var(--mantine-font-family-monospace)',
      lineHeight: '1.55',
      minHeight: `${minHeight}px`,
      maxHeight: `${maxHeight}px`,
    },
    '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '6px 0' },
    '.cm-line': { padding: '0 8px 0 4px' },
    '.cm-gutters': {
      backgroundColor: 'transparent',
      border: 'none',
      color: 'var(--mantine-color-dimmed)',
    },
    '.cm-foldPlaceholder': {
      backgroundColor: 'var(--mantine-color-default-hover)',
      border: 'none',
      color: 'var(--mantine-color-dimmed)',
      padding: '0 6px',
    },
    '.cm-placeholder': { color: 'var(--mantine-color-dimmed)' },
    '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--mantine-color-default-border)' },
    '.cm-tooltip, .cm-panels': {
      backgroundColor: 'var(--mantine-color-body)',
      border: '1px solid var(--mantine-color-default-border)',
      color: 'var(--mantine-color-text)',
    },
    '.cm-tooltip': { borderRadius: 'var(--mantine-radius-sm)', overflow: 'hidden' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': {
      fontFamily: 'var(--mantine-font-family-monospace)',
      maxWidth: 'min(520px, 90vw)',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': {
      background: 'var(--mantine-primary-color-filled)',
      color: 'var(--mantine-color-white)',
    },
    '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.8', marginLeft: '12px' },
    '.cm-json-name': { color: 'light-dark(#364fc7, #91a7ff)' },
    '.cm-json-string': { color: 'light-dark(#22693b, #8ce99a)' },
    '.cm-json-number': { color: 'light-dark(#a33d00, #ffc078)' },
    '.cm-json-constant': { color: 'light-dark(#862e9c, #e599f7)' },
  });
}
