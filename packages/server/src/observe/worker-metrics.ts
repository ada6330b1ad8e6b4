/** The metric of the primary process: how many of its workers answer. It needs no answer of a worker. */
import { Gauge, Registry } from 'prom-client';
import { type MetricsSnapshot, takeSnapshot } from './print-metrics.ts';

/** Workers at one scrape. A silent worker did not answer in time, so its numbers are missing from the scrape. */
export interface WorkerCounts {
  answering: number;
  silent: number;
}

export function snapshotWorkers({ answering, silent }: WorkerCounts): Promise<MetricsSnapshot> {
  const registry = new Registry();
  const workers = new Gauge({
    name: 'erp_proxy_workers',
    help: WORKERS_HELP,
    labelNames: ['state'] as const,
    registers: [registry],
  });
  workers.set({ state: 'answering' }, answering);
  workers.set({ state: 'silent' }, silent);
  return takeSnapshot(registry);
}

export const WORKERS_HELP =
  'Workers by state at this scrape. The numbers of silent workers are missing. Only with several workers.';
