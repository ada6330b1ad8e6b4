/** Explains a denial to the operator of a server. Does not name members of a call: an examination has none. */
import type { Denial } from '../execute/terms/denial.ts';
import { FirewallRefusal } from '../execute/upstream/upstream-status.ts';

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
