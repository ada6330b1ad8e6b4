/**
 * The routes for callers that speak ODXProxy's wire format: each is one of our pipelines behind another path. What differs
 * on the way is one `Dialect`; docs/compatibility.md is the page for those who switch.
 */
import { COMPATIBLE_CHANGES, KEY_HEADER } from '@erp-proxy/contract';
import type { FastifyInstance } from 'fastify';
import { execute } from '../execute/execute-call.ts';
import { executeJson2 } from '../execute/json2-call.ts';
import type { Dialect } from '../execute/terms/dialect.ts';
import { askJsonVersion, askVersion } from '../execute/version-call.ts';
import { addPipelineRoute, type ExecuteRouteDeps } from './execute-route.ts';
import { addMetricsRoute, type MetricsRouteDeps } from './metrics-route.ts';

const DIALECT: Dialect = {
  instanceAt: 'odoo_instance',
  keyHeaders: ['x-api-key', 'apikey', KEY_HEADER, 'authorization'],
  errors: COMPATIBLE_CHANGES,
  // Its Java client sends them to every search; Odoo would raise a TypeError.
  surplusArguments: new Map([['search_count', new Set(['fields', 'order', 'offset'])]]),
};

/** There is none to run out; its clients want the texts. */
const LICENSE = { licensee: 'erp-proxy (MIT License)', valid_until: '2099-12-31', is_valid: true };

export interface CompatibleRoutesDeps extends ExecuteRouteDeps, MetricsRouteDeps {
  /** Of this program. The clients use `/v2` from 0.9.0 on. */
  version: string;
}

export function addCompatibleRoutes(app: FastifyInstance, deps: CompatibleRoutesDeps): void {
  for (const path of ['/api/odoo/execute', '/v1/odoo/execute', '/api/odoo'])
    addPipelineRoute(app, path, execute, DIALECT, deps);
  for (const path of ['/api/odoo/version', '/v1/odoo/version'])
    addPipelineRoute(app, path, askVersion, DIALECT, deps);
  addPipelineRoute(app, '/v2/odoo/execute', executeJson2, DIALECT, deps);
  addPipelineRoute(app, '/v2/odoo/version', askJsonVersion, DIALECT, deps);
  // Some clients read it flat, some as an answer.
  const about = { build: 'erp-proxy', version: deps.version };
  app.get('/_/about', () => ({ jsonrpc: '2.0', id: 'about', ...about, result: about }));
  app.get('/_/license', () => LICENSE);
  addMetricsRoute(app, '/_/metrics', deps);
}
