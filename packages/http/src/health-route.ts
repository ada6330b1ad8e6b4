/** `GET /healthz`: the process is alive. `GET /readyz`: the process can take traffic. */

import { decideReadiness, type HealthCheck } from '@erp-proxy/observe/health';
import type { FastifyInstance } from 'fastify';

export interface HealthRouteDeps {
  /** Runs the checks that decide whether the process can take traffic. Returns their results by name. */
  checkReadiness: () => Promise<Record<string, HealthCheck>>;
}

export function addHealthRoutes(app: FastifyInstance, { checkReadiness }: HealthRouteDeps): void {
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = Object.entries(await checkReadiness());
    const { isReady, status } = decideReadiness(checks.map(([, check]) => check));
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({
        status,
        checks: Object.fromEntries(checks.map(([name, { state, detail }]) => [name, detail ?? state])),
      });
  });
}
