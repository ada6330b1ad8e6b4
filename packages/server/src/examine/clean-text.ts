/**
 * Cleans texts of a server for the operator. The server can be any program, and may send back the key that it received.
 */
import { cutText } from '@erp-proxy/contract';
import { createFaultCleaner } from '@erp-proxy/odoo/faults';

/** A longer text is neither a name nor a version. */
const TEXT_LENGTH_MAX = 200;
/** Enough for the shown text, however much is removed. */
const READ_LENGTH_MAX = 10_000;

/** Returns the text without the secrets, in one line, and not longer than a message should be. */
export type CleanText = (text: unknown) => string;

export function createTextCleaner(secrets: readonly string[]): CleanText {
  const { cleanDebug } = createFaultCleaner(secrets);
  return (text) =>
    // Control characters could be commands to a terminal.
    cutText(
      cleanDebug(cutText(String(text), READ_LENGTH_MAX)).replace(/\p{Cc}+/gu, ' '),
      TEXT_LENGTH_MAX,
    ).toWellFormed();
}
