/** Explains a denial to the operator of a server, without the members of a call, which an examination lacks. */
import type { Denial } from '../execute/terms/denial.ts';

export function explainAnswer({ type, message, more }: Denial): string {
  const isIncluded = more.detail === undefined || message.includes(`(${more.detail})`);
  const detail = isIncluded ? '' : ` (${more.detail})`;
  if (type === 'upstream_bad_response') {
    return `the server answers, but not as Odoo does${detail}; check the address and its path prefix`;
  }
  const [first = message] = message.split(/(?<=\.) /);
  return first.replaceAll('`erp_instance.url`', 'the address').replace(/\.$/, detail);
}
