/** Judges how a YAML text ends: one that was cut off in the middle of its last line can look like a whole one that means more. */
import { type Document, isCollection } from 'yaml';

/**
 * What the end of a text must be. `closed`: a line break, or the bracket that closes the whole document. `line break`: the
 * last byte is one. `end mark`: a line break and YAML's document end mark, a line `...`.
 */
export type Ending = 'closed' | 'line break' | 'end mark';

/** Why the text does not end so; null where it does. */
export function explainEnding(text: string, document: Document, ending: Ending): string | null {
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
