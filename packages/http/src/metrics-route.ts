/** Serves the metrics in the text format of Prometheus. */

import type { Metrics } from '@erp-proxy/observe/metrics';
import type { FastifyInstance } from 'fastify';

export interface MetricsRouteDeps {
  metrics: Pick<Metrics, 'contentType' | 'render'>;
}

export function addMetricsRoute(app: FastifyInstance, path: string, deps: MetricsRouteDeps): void {
  app.get(path, async (_request, reply) =>
    reply.header('content-type', deps.metrics.contentType).send(await deps.metrics.render()),
  );
}
