/**
 * CORS (the Fetch standard): a web page may read every answer of the calls' routes. The browser does not enforce who may
 * use a key: the key's policy does (`cors_origins`), and a key without a policy may be used by no page. A preflight carries
 * no key, so that it always passes.
 */
import type { FastifyInstance } from 'fastify';

/** Request headers that the routes read and a page may not send unasked. */
const ALLOWED_HEADERS =
  'authorization, cache-control, content-type, idempotency-key, traceparent, x-api-key, x-proxy-api, x-request-id, x-request-timeout';
const EXPOSED_HEADERS =
  'age, erp-proxy-limit, idempotency-replayed, ratelimit, ratelimit-policy, retry-after, server-timing, x-request-id';
/** Longer than what browsers keep at most. */
const MAX_AGE_SECONDS = '86400';

/** Headers of an answer to a page of this origin; none where the caller is no browser. */
export function describeCors(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'accept-encoding, origin',
  };
}

/** `OPTIONS` that is no preflight is a method that the route does not take. */
export function addPreflight(app: FastifyInstance, path: string): void {
  app.options(path, (request, reply) => {
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || method === undefined) return reply.callNotFound();
    return reply
      .code(204)
      .headers({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
        vary: 'origin',
      })
      .send();
  });
}
