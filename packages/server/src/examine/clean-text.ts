/** Cleans texts of a server for the operator. Any program may answer, and may send back the key that it was given. */
import { createFaultCleaner } from '../odoo/faults/fault-cleaner.ts';

/** A longer text is no name and no version. */
const TEXT_LENGTH_MAX = 200;
/** Enough for the shown text, whatever is removed. */
const READ_LENGTH_MAX = 10_000;

/** Returns the text without the secrets, in one line, and not longer than a message should be. */
export type CleanText = (text: unknown) => string;

export function createTextCleaner(secrets: readonly string[]): CleanText {
  const { cleanDebug } = createFaultCleaner(secrets);
  return (text) =>
    // Control characters could be commands to a terminal.
    cleanDebug(String(text).slice(0, READ_LENGTH_MAX))
      .replace(/\p{Cc}+/gu, ' ')
      .slice(0, TEXT_LENGTH_MAX)
      .toWellFormed();
}
