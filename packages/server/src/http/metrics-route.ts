/** Serves the metrics in the text format of Prometheus. */
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../observe/metrics.ts';

export interface MetricsRouteDeps {
  metrics: Pick<Metrics, 'contentType' | 'render'>;
}

export function addMetricsRoute(app: FastifyInstance, path: string, deps: MetricsRouteDeps): void {
  app.get(path, async (_request, reply) =>
    reply.header('content-type', deps.metrics.contentType).send(await deps.metrics.render()),
  );
}
