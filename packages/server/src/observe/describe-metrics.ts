/** docs/metrics.md: a table of the proxy's own metrics, from the metrics themselves. */
import { createMetrics, type MetricDescription, type MetricSources } from './metrics.ts';
import { WORKERS_HELP } from './worker-metrics.ts';

export function renderMetricsMarkdown(): string {
  const own = createMetrics(() => 'other', NOTHING).describe();
  const rows = [...own, WORKERS].toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(renderRow);
  return `<!-- Generated from packages/server/src/observe/metrics.ts by "npm run docs": change it there. -->

# Metrics

Scrape \`GET /metrics\` with Prometheus. The answer has the metrics below and those of Node.js (\`process_…\`, \`nodejs_…\`).
With several \`workers\` one scrape has the sums of all of them. A worker that does not answer within half a second is left out of the
scrape, and \`erp_proxy_workers{state="silent"}\` counts it.

An upstream gets a label of its own after its first good answer, or where it is a stored instance's: up to 100 upstreams. Calls to
others count as \`other\`. A database without a good answer is shown while calls run or wait there or its breaker is open, up to 20 at
a time.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

Durations are in seconds. \`class\` is \`read\`, \`write\` or \`other\`, and \`none\` where no method was named.
`;
}

function renderRow({ name, type, labels, help }: MetricDescription): string {
  const names = labels.map((label) => `\`${label}\``).join(', ');
  return `| \`${name}\` | ${type} | ${names} | ${help} |`;
}

const WORKERS: MetricDescription = {
  name: 'erp_proxy_workers',
  type: 'gauge',
  labels: ['state'],
  help: WORKERS_HELP,
};

/** A proxy that has nothing to tell: the names alone are looked at. */
const NOTHING: MetricSources = {
  audit: () => ({ waiting: 0, lost: 0 }),
  instanceKeys: () => [],
  isStoreUp: () => true,
  storeStatementsGivenUp: () => 0,
  isRedisUp: () => true,
  databases: () => [],
  nameDatabase: (upstream, db) => `${upstream} ${db}`,
  now: () => 0,
  version: '',
};
