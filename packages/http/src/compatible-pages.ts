/** The pages for clients of ODXProxy. The routes of their calls are in call-routes.ts. */
import type { FastifyInstance } from 'fastify';
import { addPreflight, describeCors } from './answer-writer.ts';
import { addMetricsRoute, type MetricsRouteDeps } from './metrics-route.ts';

/** The texts that clients expect of a licence. Ours does not expire. */
const LICENSE = { licensee: 'erp-proxy (MIT License)', valid_until: '2099-12-31', is_valid: true };

export interface CompatiblePagesDeps extends MetricsRouteDeps {
  /** Version of this program. Clients use `/v2` from 0.9.0 on. */
  version: string;
}

export function addCompatiblePages(app: FastifyInstance, deps: CompatiblePagesDeps): void {
  // The members are at the top level and in `result`, because clients differ in where they read them.
  const about = { build: 'erp-proxy', version: deps.version };
  addPage(app, '/_/about', { jsonrpc: '2.0', id: 'about', ...about, result: about });
  addPage(app, '/_/license', LICENSE);
  addMetricsRoute(app, '/_/metrics', deps);
}

/** Adds a page that clients in web pages read before their calls, sometimes with the header of their key. */
function addPage(app: FastifyInstance, path: string, page: object): void {
  app.get(path, (request, reply) => {
    reply.headers(describeCors(request.headers.origin));
    return page;
  });
  addPreflight(app, path, 'GET');
}
