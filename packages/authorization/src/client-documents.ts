/**
 * Fetches the documents by which an application describes itself at its address (OAuth Client ID Metadata Documents),
 * through the egress guard. Redirects are not followed.
 */
import { type EgressDispatcher, fetchWhole } from '@erp-proxy/egress';

/** Maximum size of a document. Common ones have less than 1 KiB. */
export const DOCUMENT_BYTES_MAX = 16 * 1024;
const TIMEOUT_MS = 5000;

/** In the form of `fetch`, as the library wants it. Rejects with the reason, for the operator's log. */
export function createDocumentFetch(egress: EgressDispatcher) {
  return async (url: string | URL): Promise<Response> => {
    const { origin, pathname, search } = new URL(url);
    const answer = await fetchWhole(
      egress,
      {
        method: 'GET',
        origin,
        path: pathname + search,
        headers: { accept: 'application/json' },
        body: null,
        trust: null,
      },
      { signal: AbortSignal.timeout(TIMEOUT_MS), bytesMax: DOCUMENT_BYTES_MAX },
    );
    if (!answer.ok) throw new Error(`${origin}${pathname}: ${answer.reason} (${answer.detail})`);
    const { status, headers } = answer;
    const cacheControl = headers['cache-control'];
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status,
      headers: typeof cacheControl === 'string' ? { 'cache-control': cacheControl } : {},
    });
  };
}
