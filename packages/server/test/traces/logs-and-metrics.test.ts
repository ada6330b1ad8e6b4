/** Tests docs/tracing.md: logs and metrics, as a collector receives them from the real exporters. */
import { expect, test } from 'vitest';
import { explainContradictions } from '../../src/config/explain-settings.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { makeSettings, send } from '../harness.ts';
import { startPair } from '../pair.ts';
import {
  type Collector,
  type JsonAttribute,
  readAttributes,
  readFields,
  startCollector,
} from './collector.ts';

const ENDPOINT = 'otel.endpoint';

async function start(settings: Record<string, string>, collector?: Collector) {
  const receiver = collector ?? closeAfterTest(await startCollector());
  const pair = closeAfterTest(
    await startPair(undefined, {
      settings: { [ENDPOINT]: receiver.url, 'otel.traces': 'false', ...settings },
    }),
  );
  return { collector: receiver, ...pair };
}

const readPaths = ({ requests }: Collector) => [...new Set(requests.map(({ path }) => path))].sort();

interface JsonRecord {
  severityNumber: number;
  severityText: string;
  body: { stringValue: string };
  attributes: JsonAttribute[];
}

/** The records of all requests in JSON. */
function readRecords({ requests }: Collector): JsonRecord[] {
  return requests
    .filter(({ path }) => path === '/v1/logs')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceLogs)
    .flatMap(({ scopeLogs }) => scopeLogs)
    .flatMap(({ logRecords }) => logRecords);
}

test('sends nothing but what is on', async () => {
  const { collector, proxy, upstream } = await start({ 'otel.traces': 'true' });
  await proxy.call(printCall(upstream.url));
  await proxy.close();
  expect(readPaths(collector)).toEqual(['/v1/traces']);
  const other = await start({ 'otel.logs': 'true', 'otel.metrics': 'true' });
  await other.proxy.call(printCall(other.upstream.url));
  await other.proxy.close();
  expect(readPaths(other.collector)).toEqual(['/v1/logs', '/v1/metrics']);
  const off = await start({ 'otel.logs': 'true', 'otel.metrics': 'true', 'otel.enabled': 'false' });
  await off.proxy.call(printCall(off.upstream.url));
  await off.proxy.close();
  expect(readPaths(off.collector)).toEqual([]);
});

test('a line of the log leaves with its level and its members', async () => {
  const { collector, proxy, upstream } = await start({ 'otel.logs': 'true', 'otel.protocol': 'http/json' });
  const { headers } = await proxy.call(printCall(upstream.url));
  await proxy.post(printCall('http://127.0.0.1:1'));
  await proxy.close();
  const line = proxy.log.find(
    ({ msg, requestId }) => msg === 'call' && requestId === headers['x-request-id'],
  );
  const records = readRecords(collector);
  const record = records.find(
    ({ attributes }) => readAttributes(attributes)['erp_proxy.request_id'] === headers['x-request-id'],
  );
  expect(record).toMatchObject({ severityNumber: 9, severityText: 'INFO', body: { stringValue: 'call' } });
  expect(readAttributes(record?.attributes ?? [])).toMatchObject({
    'erp_proxy.key_id': line?.['keyId'],
    'erp_proxy.outcome': 'ok',
    'erp_proxy.model': line?.['model'],
  });
  expect(records.length).toBeGreaterThan(1);
});

test('neither keys nor values of calls leave with the log', async () => {
  const { collector, proxy, upstream } = await start({ 'otel.logs': 'true', 'otel.protocol': 'http/json' });
  const secrets = ['api-key-of-this-test', 'value-of-this-test'];
  const call = JSON.parse(printCall(upstream.url));
  call.erp_instance.api_key = secrets[0];
  call.params = [[['name', '=', secrets[1]]]];
  await proxy.call(call);
  await proxy.post(call, { 'x-proxy-api': `${proxy.key}x` });
  await proxy.close();
  const sent = collector.requests.map(({ body }) => body.toString()).join('\n');
  expect(sent).toContain('erp_proxy.request_id');
  for (const secret of [...secrets, proxy.key]) expect(sent).not.toContain(secret);
});

test('lines below the level of the log do not leave', async () => {
  const { collector, proxy, upstream } = await start({
    'otel.logs': 'true',
    'otel.protocol': 'http/json',
    'log.level': 'warn',
  });
  await proxy.call(printCall(upstream.url));
  await proxy.close();
  expect(readRecords(collector).filter(({ severityNumber }) => severityNumber < 13)).toEqual([]);
});

test('logs are sent in protobuf, the default', async () => {
  const { collector, proxy, upstream } = await start({ 'otel.logs': 'true' });
  await proxy.call(printCall(upstream.url));
  await proxy.close();
  // Field numbers are those of opentelemetry/proto/logs/v1/logs.proto: body is 5, its text 1.
  const records = collector.requests
    .flatMap(({ body }) => readFields(body).get(1) ?? [])
    .flatMap((resource) => readFields(resource).get(2) ?? [])
    .flatMap((scope) => readFields(scope).get(2) ?? []);
  const bodies = records.map((record) => readFields(readFields(record).get(5)![0]!).get(1)?.[0]?.toString());
  expect(bodies).toContain('call');
  expect(collector.requests[0]?.headers['content-type']).toBe('application/x-protobuf');
});

interface JsonMetric {
  name: string;
  sum?: { isMonotonic: boolean; aggregationTemporality: number; dataPoints: JsonPoint[] };
  gauge?: { dataPoints: JsonPoint[] };
  histogram?: { dataPoints: JsonPoint[] };
}

interface JsonPoint {
  attributes: JsonAttribute[];
  asDouble?: number;
  count?: number;
  sum?: number;
  bucketCounts?: number[];
  explicitBounds?: number[];
}

test('the metrics of /metrics leave with the same names and values', async () => {
  const { collector, proxy, upstream } = await start({
    'otel.metrics': 'true',
    'otel.protocol': 'http/json',
  });
  for (let call = 0; call < 3; call++) await proxy.call(printCall(upstream.url));
  const text = (await send(`${proxy.url}/metrics`)).body.toString();
  await proxy.close();
  const metrics: JsonMetric[] = collector.requests
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceMetrics)
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap(({ metrics }) => metrics);
  const scraped = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  expect(metrics.map(({ name }) => name).sort()).toEqual(scraped.sort());
  const find = (name: string) => metrics.find((metric) => metric.name === name);
  const calls = find('erp_proxy_calls_total')?.sum;
  expect(calls).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 });
  expect(calls?.dataPoints.reduce((sum, { asDouble = 0 }) => sum + asDouble, 0)).toBe(3);
  expect(find('erp_proxy_store_up')?.gauge?.dataPoints).toMatchObject([{ asDouble: 1 }]);
  const durations = find('erp_proxy_upstream_duration_seconds')?.histogram?.dataPoints ?? [];
  expect(durations).not.toEqual([]);
  for (const { count, bucketCounts = [], explicitBounds = [] } of durations) {
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
    expect(bucketCounts.reduce((sum, bucket) => sum + Number(bucket), 0)).toBe(Number(count));
  }
});

test.each([
  ['refuses all', 400, '', 'the collector answered 400'],
  ['rejects a part', 200, '{"partialSuccess":{"rejectedLogRecords":"2"}}', 'the collector rejected 2 items'],
  ['is another server', 200, '<html>', 'the answer is not one of a collector'],
])('a receiver that %s is reported once, and calls run', async (_, status, body, reason) => {
  const collector = closeAfterTest(
    await startCollector((response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    ),
  );
  const { proxy, upstream } = await start({ 'otel.logs': 'true' }, collector);
  for (let call = 0; call < 3; call++) {
    const sent = collector.requests.length;
    expect((await proxy.call(printCall(upstream.url))).status).toBe(200);
    await expect.poll(() => collector.requests.length).toBeGreaterThan(sent);
  }
  await proxy.close();
  const lines = proxy.log.filter(({ msg }) => msg === 'logs not exported');
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', reason })]);
});

test('an endpoint whose path does not tell that of logs is refused', () => {
  const on = { 'otel.logs': 'true' };
  const explain = (endpoint: string) => explainContradictions(makeSettings({ ...on, [ENDPOINT]: endpoint }));
  expect(explain('http://localhost:4318/api/v1/traces')).toEqual([]);
  expect(explain('http://localhost:4318')).toEqual([]);
  expect(explain('http://localhost:4318/otlp')).toEqual([
    expect.stringMatching(/does not end with \/v1\/traces/),
  ]);
});
