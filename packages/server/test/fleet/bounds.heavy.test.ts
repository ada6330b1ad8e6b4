/** Tests docs/fleet.md: large requests, callers that read slowly, and a proxy that stops meanwhile. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { addInstance, answerCount, COUNT, readReply, startFleetStage } from './fleet-stage.ts';

function nameInstances(count: number): Record<string, string[]> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`client-${index}`, []]));
}

test('a request calls a thousand instances, and no more', async () => {
  const { fleet, proxy, upstream } = await startFleetStage({ instances: nameInstances(1000) });
  const body = { call: COUNT, instances: ['*'] };
  const { counts, lines, byName } = await fleet(body);
  expect(counts).toEqual({ done: 1000, failed: 0, skipped: 0 });
  expect({ lines: lines.length, names: Object.keys(byName).length }).toEqual({ lines: 1001, names: 1000 });
  await addInstance(proxy, upstream.url, 'one-more');
  const { status, error } = await fleet(body);
  expect({ status, message: error.message }).toEqual({
    status: 400,
    message:
      '`instances` chooses 1001 instances, more than the 1000 of one request: send several with fewer.',
  });
});

test('a caller that does not read is disconnected, and its calls end', async () => {
  const { open, called, upstream, readMetric } = await startFleetStage({
    instances: nameInstances(100),
    settings: { 'http.answerBytesPerSecondMin': '2000000' },
    script: (_db, socket) => answerLikeOdoo(socket, printResult(`"${'x'.repeat(1_000_000)}"`)),
  });
  const response = await open({ call: COUNT, instances: ['*'] });
  response.on('error', () => {});
  await expect.poll(() => readMetric('erp_proxy_data_requests{route="fleet"}')).toBe(0);
  await expect.poll(() => upstream.sockets.size).toBe(0);
  expect(await readMetric('erp_proxy_fleet_calls_running')).toBe(0);
  expect(called.length).toBeLessThan(100);
});

test('a proxy that stops ends the calls, and says of each instance whether it was called', async () => {
  const { open, called, proxy, upstream } = await startFleetStage({
    instances: nameInstances(40),
    script: (db, socket, body) => db === 'client-0' && answerCount(db, socket, body),
  });
  const response = await open({ call: COUNT, instances: ['*'], concurrency: 3 });
  await expect.poll(() => called.length).toBe(4);
  const [reply] = await Promise.all([readReply(response), proxy.app.stop()]);
  expect(reply.isBroken).toBe(false);
  expect(reply.counts).toEqual({ done: 1, failed: 3, skipped: 36 });
  const errors = called.slice(1).map((name) => reply.byName[name]?.error);
  for (const error of errors) expect(error.data).toMatchObject({ type: 'overloaded', outcome: 'unknown' });
  expect(reply.byName['client-39']?.error).toMatchObject({
    message: expect.stringContaining('The proxy is shutting down'),
    data: { outcome: 'not_sent' },
  });
  await expect.poll(() => upstream.sockets.size).toBe(0);
});
