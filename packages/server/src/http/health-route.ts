/** `GET /healthz`: the process is alive. `GET /readyz`: it may take traffic. */
import type { FastifyInstance } from 'fastify';

export interface HealthRouteDeps {
  /** What must hold for calls to work, by name; null where it does, else why not. */
  readiness: () => Promise<Record<string, string | null>>;
}

export function addHealthRoutes(app: FastifyInstance, deps: HealthRouteDeps): void {
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await deps.readiness();
    const isReady = Object.values(checks).every((fault) => fault === null);
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({
        status: isReady ? 'ready' : 'not_ready',
        checks: Object.fromEntries(Object.entries(checks).map(([name, fault]) => [name, fault ?? 'ok'])),
      });
  });
}
