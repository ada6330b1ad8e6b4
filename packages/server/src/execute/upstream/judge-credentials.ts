/** What a reply says about the credentials of its call: only what Odoo did after checking them speaks for them. */

import { Denial } from '../terms/denial.ts';
import type { Verdict } from './credential-memory.ts';
import type { Reply } from './receive.ts';

export function judgeCredentials(reply: Reply | undefined): Verdict {
  if (reply === undefined || reply instanceof Denial || reply.kind === 'kept') return 'unknown';
  if (reply.kind === 'result') return 'accepted';
  if (reply.fault.data.type === 'access_denied') return 'refused';
  return reply.fault.data.type === 'access_error' ? 'accepted' : 'unknown';
}
