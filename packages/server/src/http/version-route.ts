/** `POST /api/erp/version`: which version a server has. */
import { VERSION_PATH } from '@erp-proxy/contract';
import type { FastifyInstance } from 'fastify';
import { OWN_DIALECT } from '../execute/terms/dialect.ts';
import { askVersion } from '../execute/version-call.ts';
import { addPipelineRoute, type ExecuteRouteDeps } from './execute-route.ts';

export function addVersionRoute(app: FastifyInstance, deps: ExecuteRouteDeps): void {
  addPipelineRoute(app, VERSION_PATH, askVersion, OWN_DIALECT, deps);
}
