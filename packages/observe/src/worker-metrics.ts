/** The metric of the primary process: the number of workers that answer. It needs no answer of a worker. */
import { Gauge, Registry } from 'prom-client';
import { type MetricsSnapshot, takeSnapshot } from './print-metrics.ts';

/** Numbers of workers at one scrape. A silent worker did not answer in time, so the scrape lacks its metrics. */
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
