/** Renders docs/metrics.md: a table of the proxy's own metrics, from their definitions. */
import { type MetricObject, Registry } from 'prom-client';
import { DatabaseLabels } from './database-labels.ts';
import { registerEventMetrics } from './event-metrics.ts';
import { SOURCE_METRICS } from './source-metrics.ts';
import { WORKERS_HELP } from './worker-metrics.ts';

interface MetricDescription {
  name: string;
  type: string;
  labelNames?: readonly string[];
  help: string;
}

export function renderMetricsMarkdown(): string {
  const metrics = [...listEventMetrics(), ...SOURCE_METRICS, WORKERS];
  const rows = metrics.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(renderRow);
  return `<!-- Generated from packages/observe/src by "npm run docs": change the definitions there. -->

# Metrics

Scrape \`GET /metrics\` with Prometheus. The answer has the metrics below and those of Node.js (\`process_…\`, \`nodejs_…\`).
With several \`workers\`, a scrape has the sums over all workers. A worker that does not answer within half a second is
omitted, and \`erp_proxy_workers{state="silent"}\` counts it.

\`nodejs_eventloop_lag_…\` is measured every 50 ms while requests run, and for a second or two after them. At rest,
and while nothing delays the event loop, it is 0. A delay can show up to 50 ms too short. In the first 50 ms after a
rest, no delay shows.

At most 100 upstreams have a label of their own: those with a successful call, and those of stored instances. Calls to
others count as \`other\`. A database without a successful call is shown only while calls run or wait for it, or while its
circuit breaker is not closed. At most 20 such databases are shown at a time.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

Durations are in seconds. \`class\` is \`read\`, \`write\` or \`other\`, or \`none\` if no method was named.
`;
}

function renderRow({ name, type, labelNames = [], help }: MetricDescription): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(', ');
  return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
}

function listEventMetrics(): MetricDescription[] {
  const registry = new Registry();
  registerEventMetrics(registry, {
    classifyMethod: () => 'other',
    nameDatabase: (upstream, db) => `${upstream} ${db}`,
    databaseLabels: new DatabaseLabels(() => 0),
  });
  // prom-client keeps the names of labels, but its types do not declare them.
  const metrics: (MetricObject & { labelNames?: readonly string[] })[] = registry.getMetricsAsArray();
  return metrics.map((metric) => ({ ...metric, type: String(metric.type) }));
}

const WORKERS: MetricDescription = {
  name: 'erp_proxy_workers',
  type: 'gauge',
  labelNames: ['state'],
  help: WORKERS_HELP,
};
