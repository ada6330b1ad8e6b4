/** The id of a request, which appears in its answer and in the log. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export function readRequestId(headers: IncomingHttpHeaders): string {
  return chooseRequestId(headers['x-request-id']);
}

/** The caller's own id if it is safe to log, otherwise a new one (docs/execute.md#headers). */
export function chooseRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}
