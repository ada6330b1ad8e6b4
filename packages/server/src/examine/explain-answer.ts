/** A denial about a server in words for its operator: without the members of a call, which an examination has not. */
import type { Denial } from '../execute/terms/denial.ts';

export function explainAnswer({ type, message, more }: Denial): string {
  const isTold = more.detail === undefined || message.includes(`(${more.detail})`);
  const detail = isTold ? '' : ` (${more.detail})`;
  if (type === 'upstream_bad_response') {
    return `the server answers, and not as Odoo does${detail}; check the address and its path prefix`;
  }
  const [first = message] = message.split(/(?<=\.) /);
  return first.replaceAll('`erp_instance.url`', 'the address').replace(/\.$/, detail);
}
