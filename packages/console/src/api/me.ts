/** Sends requests to `/me`, for the person who is signed in. Knows no component. */
import type { Problem } from '@erp-proxy/contract';
import { ROOT } from './root.ts';
import { ProblemError } from './send.ts';

/**
 * Returns the parsed answer; undefined for an empty one. `path`: below `/me`, with escaped segments. Throws a
 * ProblemError for an error, or a TypeError if there is no answer.
 */
export async function sendAsPerson<Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${ROOT}me${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer;
  const problem = await response.json().catch(() => null);
  throw new ProblemError(
    (problem ?? { title: 'Error', status: response.status, detail: response.statusText }) as Problem,
    response.headers.get('x-request-id'),
  );
}
