/**
 * CORS (the Fetch standard). Any web page may read the answers of the routes of calls, and of some routes that need no
 * key. Which pages may use a key is enforced by the policy of the key (`cors_origins`), not by the browser; no page may
 * use a key without a policy. A preflight carries no key, so it always succeeds.
 */
import type { FastifyInstance } from 'fastify';

/** Request headers that the routes read and for which a page needs a preflight. */
const ALLOWED_HEADERS =
  'apikey, authorization, cache-control, content-type, idempotency-key, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, prefer, traceparent, x-api-key, x-approval, x-erp-call, x-proxy-api, x-request-id, x-request-timeout';
const EXPOSED_HEADERS =
  'accept-ranges, age, content-disposition, content-range, erp-proxy-limit, idempotency-replayed, mcp-session-id, preference-applied, ratelimit, ratelimit-policy, retry-after, server-timing, www-authenticate, x-request-id';
/** Longer than the maximum of any browser. */
const MAX_AGE_SECONDS = '86400';

/** CORS headers of an answer to a page of this origin; none if the caller is not a browser. */
export function describeCors(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'accept-encoding, origin',
  };
}

/**
 * Answers preflights. An `OPTIONS` request that is not a preflight gets 405, like any other method that the route does
 * not take.
 */
export function addPreflight(app: FastifyInstance, path: string, method: 'GET' | 'POST' = 'POST'): void {
  app.options(path, (request, reply) => {
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (origin === undefined || asked === undefined) return reply.callNotFound();
    return reply
      .code(204)
      .headers({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': method,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
        vary: 'origin',
      })
      .send();
  });
}
