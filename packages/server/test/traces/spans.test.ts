/** Tests docs/tracing.md: the spans of calls, as a collector receives them from the real exporter. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, waitFor } from '../execute/expectations.ts';
import type { ProxyOptions } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, answerTrue, printResult, type Script } from '../scripted-upstream.ts';
import { pause, runLater } from '../time.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${CALLER_SPAN}-01`;
const SERVER = 2;
const CLIENT = 3;
const INTERNAL = 1;

interface Traced extends Pair {
  collector: Collector;
  /** Stops the proxy, which then exports all waiting spans. Returns all spans. */
  collect(): Promise<CollectedSpan[]>;
}

async function startTraced(
  script?: Script,
  settings: Record<string, string> = {},
  options: ProxyOptions = {},
): Promise<Traced> {
  const collector = closeAfterTest(await startCollector());
  const pair = await startPair(script, {
    ...options,
    settings: { 'otel.endpoint': collector.url, 'otel.protocol': 'http/json', ...settings },
  });
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await pair.close();
    isStopped = true;
  };
  closeAfterTest({ close: stop });
  return {
    ...pair,
    collector,
    async collect() {
      await stop();
      return collector.spans;
    },
  };
}

const findSpan = (spans: CollectedSpan[], name: string) => {
  const found = spans.filter((span) => span.name === name);
  expect(found, `spans named ${name}`).toHaveLength(1);
  return found[0]!;
};
const readSentTraceparents = ({ upstream }: Pair) =>
  upstream.requests.map(({ head }) => /^traceparent: (.+)$/im.exec(head)?.[1]);

/** Each span lies within the next one. */
function expectNested(spans: readonly CollectedSpan[]): void {
  for (const [index, outer] of spans.entries()) {
    const inner = spans[index - 1];
    if (inner === undefined) continue;
    expect(inner.startMs).toBeGreaterThanOrEqual(outer.startMs);
    expect(inner.endMs).toBeLessThanOrEqual(outer.endMs);
  }
}

test('a call has a span in the trace of its caller, with one for the upstream and one for the attempt', async () => {
  const now = Date.UTC(2026, 0, 1);
  const traced = await startTraced(answerTrue, {}, { clock: () => now });
  await traced.proxy.post(printCall(traced.upstream.url), { traceparent: TRACEPARENT, 'x-request-id': 'r1' });
  const sent = readSentTraceparents(traced);
  const spans = await traced.collect();
  expect(spans).toHaveLength(3);
  const call = findSpan(spans, 'res.partner/read');
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: CALLER_SPAN, kind: SERVER, status: 0 });
  const port = Number(new URL(traced.upstream.url).port);
  const keyId = traced.proxy.key.split('_')[1];
  expect(call.attributes).toEqual({
    'rpc.method': 'res.partner/read',
    'http.response.status_code': 200,
    'client.address': '127.0.0.1',
    'erp_proxy.request_id': 'r1',
    'erp_proxy.outcome': 'ok',
    'erp_proxy.key_id': keyId,
    'erp_proxy.client_id': keyId,
    'erp_proxy.upstream': traced.upstream.url,
    'erp_proxy.db': 'prod',
    'erp_proxy.model': 'res.partner',
    'erp_proxy.action': 'read',
    'erp_proxy.protocol': 'jsonrpc',
    'erp_proxy.attempts': 1,
  });
  const upstream = findSpan(spans, 'upstream');
  expect(upstream).toMatchObject({ traceId: TRACE, parentSpanId: call.spanId, kind: INTERNAL });
  const attempt = findSpan(spans, 'POST');
  expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: upstream.spanId, kind: CLIENT });
  expect(attempt.attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': port,
    'erp_proxy.protocol': 'jsonrpc',
  });
  // Odoo's own spans become children of the attempt.
  expect(sent).toEqual([`00-${TRACE}-${attempt.spanId}-01`]);
  expectNested([attempt, upstream, call]);
  expect(call.startMs).toBeLessThanOrEqual(now);
  expect(call.endMs).toBeGreaterThanOrEqual(now);
  expect(traced.collector.resource).toMatchObject({ 'service.name': 'erp-proxy' });
});

test('spans stay nested while the system clock is set back and forth', async () => {
  let reads = 0;
  const clock = () => Date.now() + (reads++ % 2 === 0 ? 1000 : -1000);
  const traced = await startTraced(answerTrue, {}, { clock });
  const call = printCall(traced.upstream.url);
  await traced.proxy.post(`[${call},${call}]`);
  const spans = await traced.collect();
  const calls = spans.filter(({ name }) => name === 'res.partner/read');
  expect(calls).toHaveLength(2);
  const findParent = ({ parentSpanId }: CollectedSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
  for (const span of spans) {
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    const parent = findParent(span);
    if (parent !== undefined) expectNested([span, parent]);
  }
});

test('log and audit have the trace that the proxy began', async () => {
  const traced = await startTraced();
  await traced.proxy.post(printCall(traced.upstream.url));
  const [line] = await waitFor(() => traced.proxy.log.length > 0 && traced.proxy.log);
  const listAudited = async () => {
    const { items } = await traced.proxy.app.audit.search({ limit: 5 });
    return items.flatMap((item) => ('trace_id' in item ? [item.trace_id] : []));
  };
  await expect.poll(listAudited).toEqual([line?.['traceId']]);
  const call = findSpan(await traced.collect(), 'res.partner/read');
  expect(call).toMatchObject({ parentSpanId: '', traceId: line?.['traceId'] });
});

test('each attempt has a span, and tells Odoo its own id', async () => {
  const traced = await startTraced((socket, request, index) => {
    if (index === 0) socket.destroy();
    else answerTrue(socket, request, index);
  });
  await traced.proxy.post(printCall(traced.upstream.url));
  const sent = readSentTraceparents(traced);
  const attempts = (await traced.collect()).filter(({ name }) => name === 'POST');
  expect(attempts.map(({ spanId, traceId }) => `00-${traceId}-${spanId}-01`)).toEqual(sent);
  expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['reset', undefined]);
  expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([undefined, 1]);
  expect(attempts.map(({ status }) => status)).toEqual([2, 0]);
});

/** How long a call waits for the permit of another one. */
const WAIT_MS = 50;

test('a call that waits for a permit has a span for the wait', async () => {
  const letGo = Promise.withResolvers<void>();
  const traced = await startTraced(
    async (socket, _request, index) => {
      // At first, only one call tries new credentials, so it is answered at once.
      if (index > 0) await letGo.promise;
      answerLikeOdoo(socket, printResult('true'));
    },
    { 'upstream.concurrency': '1', 'upstream.concurrencyMin': '1' },
  );
  const call = (id: string) =>
    traced.proxy.post(printCall(traced.upstream.url, { action: '"write"', params: '[[1],{}]', id }));
  await call('0');
  const calls = Promise.all([call('1'), call('2')]);
  await expect.poll(() => traced.proxy.app.databaseLimiters.states()[0]?.waiting).toBe(1);
  await pause(WAIT_MS);
  letGo.resolve();
  await calls;
  const spans = await traced.collect();
  const queue = findSpan(spans, 'queue');
  expect(queue.endMs - queue.startMs).toBeGreaterThanOrEqual(WAIT_MS - 1);
  const waited = spans.find(({ spanId }) => spanId === queue.parentSpanId);
  expect(waited?.name).toBe('res.partner/write');
  const upstreams = spans.filter(({ name }) => name === 'upstream');
  expect(upstreams).toHaveLength(3);
  const own = upstreams.find(({ parentSpanId }) => parentSpanId === waited?.spanId);
  expect(own?.startMs).toBeGreaterThanOrEqual(queue.endMs - 1);
});

test('a batch has a span with one child for each call', async () => {
  const traced = await startTraced();
  const call = (id: string, action: string) =>
    printCall(traced.upstream.url, { id, action, params: '[[1],{}]' });
  await traced.proxy.post(`[${call('1', '"write"')},${call('2', '"unlink"')}]`, { traceparent: TRACEPARENT });
  const spans = await traced.collect();
  const batch = findSpan(spans, 'batch');
  expect(batch).toMatchObject({ traceId: TRACE, parentSpanId: CALLER_SPAN, kind: SERVER });
  for (const name of ['res.partner/write', 'res.partner/unlink']) {
    expect(findSpan(spans, name)).toMatchObject({ parentSpanId: batch.spanId, kind: INTERNAL });
  }
});

test('failures are marked: of Odoo as errors, of the caller by their type only', async () => {
  const traced = await startTraced((socket) => void socket.destroy(), { 'upstream.retries': '0' });
  await traced.proxy.post(printCall(traced.upstream.url));
  await traced.proxy.post(printCall(traced.upstream.url, { params: '5' }));
  await traced.proxy.post('{"no JSON');
  const spans = await traced.collect();
  expect(findSpan(spans, 'res.partner/read')).toMatchObject({
    status: 2,
    attributes: { 'error.type': 'upstream_unreachable', 'http.response.status_code': 502 },
  });
  expect(findSpan(spans, 'call')).toMatchObject({
    status: 0,
    attributes: { 'error.type': 'invalid_request' },
  });
  expect(findSpan(spans, 'refused')).toMatchObject({ attributes: { 'error.type': 'parse_error' } });
});

/** The step by which the durations of answers differ. */
const STEP_MS = 5;

test('after any mix of calls, each span has ended, and its parent with it', async () => {
  const seed = Date.now() % 2 ** 31;
  const traced = await startTraced((socket, _request, index) => {
    const turn = (seed + index) % 4;
    if (turn === 0) socket.destroy();
    else runLater(turn * STEP_MS, () => answerLikeOdoo(socket, printResult('true')));
  });
  const { url } = traced.upstream;
  const pick = (index: number): string => {
    const write = { action: '"write"', params: '[[1],{}]', id: String(index) };
    switch ((seed * 7 + index) % 6) {
      case 0:
        return printCall(url, write);
      case 1:
        return printCall(url, { params: '5' });
      case 2:
        return `[${printCall(url)},${printCall(url, write)},7]`;
      case 3:
        return '[]';
      default:
        return printCall(url);
    }
  };
  await traced.proxy.post(printCall(url));
  await Promise.all(Array.from({ length: 60 }, (_, index) => traced.proxy.post(pick(index))));
  const spans = await traced.collect();
  const known = new Set(spans.map(({ spanId }) => spanId));
  const orphans = spans.filter(({ parentSpanId }) => parentSpanId !== '' && !known.has(parentSpanId));
  expect(orphans, `seed ${seed}`).toEqual([]);
  expect(spans.filter(({ startMs, endMs }) => endMs < startMs)).toEqual([]);
  expect(spans.filter(({ name }) => name === 'POST').length, `seed ${seed}`).toBe(
    traced.upstream.requests.length,
  );
});

test('requests without a valid key have no span', async () => {
  const traced = await startTraced();
  await traced.proxy.post(printCall(traced.upstream.url), {
    'x-proxy-api': 'wrong',
    traceparent: TRACEPARENT,
  });
  expect(await traced.collect()).toEqual([]);
});

test('a trace that the caller does not sample is passed on, and not exported', async () => {
  const traced = await startTraced();
  await traced.proxy.post(printCall(traced.upstream.url), { traceparent: TRACEPARENT.replace(/01$/, '00') });
  expect(readSentTraceparents(traced)).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE}-.{16}-00$`))]);
  const [line] = await waitFor(() => traced.proxy.log.length > 0 && traced.proxy.log);
  expect(line?.['traceId']).toBe(TRACE);
  expect(await traced.collect()).toEqual([]);
});

test('the share of traces that begin here is set; a caller can ask for its own', async () => {
  const traced = await startTraced(answerTrue, { 'otel.sampleRatio': '0' });
  await traced.proxy.post(printCall(traced.upstream.url));
  await traced.proxy.post(printCall(traced.upstream.url), { traceparent: TRACEPARENT });
  const traces = (await traced.collect()).map(({ traceId }) => traceId);
  expect(new Set(traces)).toEqual(new Set([TRACE]));
  expect(traced.proxy.log[0]).not.toHaveProperty('traceId');
});

test('spans have no values, keys or credentials', async () => {
  const traced = await startTraced((socket) => answerLikeOdoo(socket, printResult('"secret-result"')));
  await traced.proxy.post(
    printCall(traced.upstream.url, {
      action: '"write"',
      params: '[[1],{"name":"secret-value"}]',
      keyword: '{"context":{"note":"secret-context"}}',
    }),
  );
  await traced.collect();
  const bodies = traced.collector.requests.map(({ body }) => body.toString()).join();
  expect(bodies).toContain('res.partner/write');
  expect(bodies).not.toMatch(/secret-|upstream-key/);
  expect(bodies).not.toContain(traced.proxy.key);
});

test('protobuf, gzip, headers and attributes of the service are those of the settings', async () => {
  const traced = await startTraced(answerTrue, {
    'otel.protocol': 'http/protobuf',
    'otel.compression': 'gzip',
    'otel.headers': 'Authorization=Bearer%20abc,x-tenant=7',
    'otel.serviceName': 'gateway',
    'otel.resourceAttributes': 'service.name=other-name,deployment.environment.name=test%20two',
    'otel.endpoint': `${(await startSpare()).url}/custom/path`,
  });
  await traced.proxy.post(printCall(traced.upstream.url), { traceparent: TRACEPARENT });
  await traced.collect();
  const [request] = spare!.requests;
  expect(request).toMatchObject({
    path: '/custom/path',
    headers: {
      authorization: 'Bearer abc',
      'x-tenant': '7',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    },
  });
  for (const text of ['gateway', 'deployment.environment.name', 'test two']) {
    expect(request?.body.includes(text)).toBe(true);
  }
  expect(request?.body.includes('other-name')).toBe(false);
  const call = findSpan(spare!.spans, 'res.partner/read');
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: CALLER_SPAN, kind: SERVER });
});

let spare: Collector | undefined;
async function startSpare(): Promise<Collector> {
  spare = closeAfterTest(await startCollector());
  return spare;
}
