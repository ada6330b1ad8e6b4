/** Tests that the alert rules, the dashboard and the runbooks name metrics, labels and sections that exist. */

import { POLICY_MEMBERS } from '@erp-proxy/policy/parse';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { startPair } from '../pair.ts';
import { type Parsed, readText, readYaml } from './deploy-files.ts';
import { readPromql } from './promql.ts';

const rules: Parsed[] = readYaml('deploy/prometheus/alerts.yaml').groups.flatMap(
  (group: Parsed) => group.rules,
);
const dashboard: Parsed = JSON.parse(readText('deploy/grafana/erp-proxy.json'));
const runbooks = readText('docs/runbooks.md');

/** Labels that Prometheus adds to every series. It also makes the metric `up`. */
const TARGET_LABELS = ['job', 'instance'];
/** Metrics that exist only with Redis or several workers. */
const CONDITIONAL = ['erp_proxy_redis_up', 'erp_proxy_workers'];

/**
 * The labels of each metric of the program, from the generated page. Prometheus renames labels that a scrape's target
 * has too.
 */
function readDocumentedLabels(): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  for (const [, name = '', type, list = ''] of readText('docs/metrics.md').matchAll(
    /^\| `(erp_proxy_\w+)` \| (\w+) \| ([^|]*) \|/gm,
  )) {
    const own = [...list.matchAll(/`(\w+)`/g)].map(([, label = '']) =>
      TARGET_LABELS.includes(label) ? `exported_${label}` : label,
    );
    if (type === 'histogram') labels.set(`${name}_bucket`, [...own, 'le']);
    else labels.set(name, own);
  }
  return labels;
}

const documented = readDocumentedLabels();
const panels: [string, string][] = dashboard.panels.flatMap((panel: Parsed) =>
  (panel.targets ?? []).map((target: Parsed) => [
    `${panel.title}: ${target.legendFormat}`,
    target.expr.replaceAll('$__rate_interval', '5m'),
  ]),
);
const expressions: [string, string][] = [
  ...rules.map((rule: Parsed): [string, string] => [rule.alert, rule.expr]),
  ...panels,
];

test('the names of an expression are found, and mistakes in it', () => {
  const { metrics, grouping } = readPromql('sum by (a) (rate(up{b="1", c=~"x|y"}[5m])) / on (d) other > 3');
  expect(metrics).toEqual([
    { name: 'up', labels: ['b', 'c'] },
    { name: 'other', labels: [] },
  ]);
  expect(grouping).toEqual(['a', 'd']);
  expect(() => readPromql('sum by (a (up)')).toThrow();
});

test('there are rules and panels', () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(panels.length).toBeGreaterThan(15);
});

test.each(expressions)('%s is an expression of metrics and labels that exist', async (_name, expression) => {
  const { metrics, grouping } = readPromql(expression);
  expect(metrics.length).toBeGreaterThan(0);
  for (const { name, labels } of metrics) {
    if (name === 'up') continue;
    const own = name.startsWith('erp_proxy_') ? documented.get(name) : [];
    expect(own, name).toBeDefined();
    for (const label of [...labels, ...grouping]) expect([...own!, ...TARGET_LABELS]).toContain(label);
  }
});

test('every metric that they name is in the answer of /metrics', async () => {
  const pair = closeAfterTest(await startPair());
  await pair.proxy.post(printCall(pair.upstream.url));
  const text = (await send(`${pair.proxy.url}/metrics`)).body.toString();
  const present = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  const named = expressions.flatMap(([, expression]) =>
    readPromql(expression).metrics.map(({ name }) => name),
  );
  const missing = [...new Set(named)].filter((name) => {
    return name !== 'up' && !CONDITIONAL.includes(name) && !present.has(name.replace(/_bucket$/, ''));
  });
  expect(missing).toEqual([]);
  // The outcomes that the alert rules name are types of errors.
  for (const outcome of ['upstream_timeout', 'upstream_unreachable', 'upstream_bad_response', 'overloaded']) {
    expect(readText('docs/errors.md')).toContain(`\`${outcome}\``);
  }
});

test('each alert has a section of the runbooks, and each section an alert', () => {
  const sections = [...runbooks.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(rules.map((rule: Parsed) => rule.alert));
  for (const { alert, annotations, labels } of rules) {
    expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      const { grouping } = readPromql(rules.find((rule: Parsed) => rule.alert === alert).expr);
      expect(grouping.length === 0 ? TARGET_LABELS : grouping, alert).toContain(label);
    }
  }
});

test('the runbooks name members of policies that exist', () => {
  const named = [...runbooks.matchAll(/`(\w+)` (?:in|of) the policy/g)];
  expect(named.length).toBeGreaterThan(1);
  for (const [, name = ''] of named) expect(Object.keys(POLICY_MEMBERS)).toContain(name);
});

test('legends of the dashboard name labels that their expressions keep', () => {
  for (const panel of dashboard.panels) {
    for (const { expr, legendFormat } of panel.targets ?? []) {
      const { grouping } = readPromql(expr.replaceAll('$__rate_interval', '5m'));
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect(grouping, expr).toEqual(expect.arrayContaining(named));
    }
  }
});
