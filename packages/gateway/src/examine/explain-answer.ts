/** What an examination tells the operator of a server: denials, texts of the server, and failed checks. */

import { cutText, type ExaminationCheck } from '@erp-proxy/contract';
import { createFaultCleaner } from '@erp-proxy/odoo/faults';
import type { Denial } from '../terms/denial.ts';
import { FirewallRefusal } from '../upstream/upstream-status.ts';

/** Explains a denial. Does not name members of a call: an examination has none. */
export function explainAnswer(denial: Denial): string {
  const { type, message, more } = denial;
  const isIncluded = more.detail === undefined || message.includes(`(${more.detail})`);
  const detail = isIncluded ? '' : ` (${more.detail})`;
  if (denial instanceof FirewallRefusal)
    return message
      .split(/(?<=\.) /)
      .slice(0, 2)
      .join(' ')
      .replace(/\.$/, '');
  if (type === 'upstream_bad_response') {
    const redirect = /(?<=\. )It (redirects to .{1,200}?), which/.exec(message)?.[1];
    const cause = redirect === undefined ? 'check the address and its path prefix' : `it ${redirect}`;
    return `the server answers, but not as Odoo does${detail}; ${cause}`;
  }
  const [first = message] = message.split(/(?<=\.) /);
  return first.replaceAll('`erp_instance.url`', 'the address').replace(/\.$/, detail);
}

/** A longer text is neither a name nor a version. */
const TEXT_LENGTH_MAX = 200;
/** Enough for the shown text, however much is removed. */
const READ_LENGTH_MAX = 10_000;

/**
 * Cleans a text of a server for the operator: returns it without secrets, on one line, and with limited length. The
 * server can be any program, and may send back the key that it received.
 */
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

/** Creates failed checks. */
export function fail(name: ExaminationCheck['name'], text: string): ExaminationCheck {
  return { name, state: 'failed', text };
}

export function failDatabase(db: string): ExaminationCheck {
  return fail('database', `the server has no database ${db}, or does not show it; check the name`);
}
