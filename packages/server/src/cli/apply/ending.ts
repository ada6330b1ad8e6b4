/** Checks the end of a YAML text: a text that was cut off within its last line can look complete, and grant more. */
import { type Document, isCollection } from 'yaml';

/**
 * The required end of a text. `closed`: a line break, or the bracket that closes the whole document. `line break`: a
 * line break as the last byte. `end mark`: a line break and YAML's document end marker, a line `...`.
 */
export type Ending = 'closed' | 'line break' | 'end mark';

/** Explains what is wrong with the ending; null if it is right. */
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
