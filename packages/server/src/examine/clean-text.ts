/**
 * Cleans texts of a server for the operator. The server can be any program, and may send back the key that it received.
 */
import { cutText } from '@erp-proxy/contract';
import { createFaultCleaner } from '@erp-proxy/odoo/faults';

/** A longer text is neither a name nor a version. */
const TEXT_LENGTH_MAX = 200;
/** Enough for the shown text, however much is removed. */
const READ_LENGTH_MAX = 10_000;

/** Returns the text without secrets, on one line, and with limited length. */
export type CleanText = (text: unknown) => string;

export function createTextCleaner(secrets: readonly string[]): CleanText {
  const { cleanDebug } = createFaultCleaner(secrets);
  return (text) =>
    // Replaces control characters, which could be commands to a terminal.
    cutText(
      cleanDebug(cutText(String(text), READ_LENGTH_MAX)).replace(/\p{Cc}+/gu, ' '),
      TEXT_LENGTH_MAX,
    ).toWellFormed();
}
