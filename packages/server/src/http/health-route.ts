/** `GET /healthz`: the process is alive. `GET /readyz`: the process can take traffic. */
import type { CheckState } from '@erp-proxy/contract';
import type { FastifyInstance } from 'fastify';

/** What a check found: `degraded` works on for now, `failed` takes the process out of traffic. */
export interface Check {
  state: CheckState;
  /** For operators: what is wrong and what it means; null where nothing is. */
  detail: string | null;
}

export interface HealthRouteDeps {
  /** What must hold for calls to work, by name. */
  readiness: () => Promise<Record<string, Check>>;
}

export function addHealthRoutes(app: FastifyInstance, deps: HealthRouteDeps): void {
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await deps.readiness();
    const states = Object.values(checks).map(({ state }) => state);
    const isReady = !states.includes('failed');
    const status = isReady ? (states.includes('degraded') ? 'degraded' : 'ready') : 'not_ready';
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({
        status,
        checks: Object.fromEntries(
          Object.entries(checks).map(([name, { state, detail }]) => [name, detail ?? state]),
        ),
      });
  });
}
