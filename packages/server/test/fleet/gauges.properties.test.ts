/**
 * Random requests for many instances, whose servers fail and whose callers leave: at the end nothing is held. On a
 * failure fast-check prints the seed.
 */
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult, ROLLED_BACK } from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import {
  ACCESS_ERROR,
  COUNT,
  type DatabaseScript,
  type FleetStage,
  readReply,
  startFleetStage,
} from './fleet-stage.ts';

const INSTANCES = Array.from({ length: 12 }, (_, index) => `c${index}`);
/** Always answers, so that its circuit breaker stays closed. */
const HEALTHY = 'healthy';
const LONG = printResult(`"${'x'.repeat(200_000)}"`);
/** Connections of servers that hang. The test closes them after a while. */
const held = new Set<Socket>();
const BEHAVIOURS: Record<string, DatabaseScript> = {
  answers: (_db, socket) => answerLikeOdoo(socket, printResult('7')),
  long: (_db, socket) => answerLikeOdoo(socket, LONG),
  too_large: (_db, socket) => answerLikeOdoo(socket, printResult(`"${'x'.repeat(1_100_000)}"`)),
  no_json: (_db, socket) => answerLikeOdoo(socket, '<html>'),
  denies: (_db, socket) => answerLikeOdoo(socket, ACCESS_ERROR),
  rolls_back: (_db, socket) => answerLikeOdoo(socket, ROLLED_BACK),
  restarts: (_db, socket) => answerLikeOdoo(socket, '', '503 Service Unavailable'),
  resets: (_db, socket) => socket.resetAndDestroy(),
  breaks_off: (_db, socket) =>
    socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${LONG.length}\r\n\r\n${LONG.slice(0, 70_000)}`),
  hangs: (_db, socket) => void held.add(socket),
  hangs_within: (_db, socket) => {
    held.add(socket);
    socket.write(`HTTP/1.0 200 OK\r\nContent-Length: ${LONG.length}\r\n\r\n${LONG.slice(0, 70_000)}`);
  },
};

const request = fc.record({
  instances: fc.uniqueArray(fc.constantFrom('*', 'c1*', ...INSTANCES), { minLength: 1, maxLength: 4 }),
  concurrency: fc.option(fc.integer({ min: 1, max: 20 })),
  key: fc.nat(2),
  idempotencyKey: fc.option(fc.constantFrom('one', 'two')),
  isLarge: fc.boolean(),
  end: fc.constantFrom('reads', 'reads_late', 'leaves_at_once', 'leaves_after_a_line', 'leaves_unread'),
});
const GAUGES = [
  'fleet_calls_running',
  'data_requests',
  // The request for the metrics is not counted.
  'requests_in_flight',
  'upstream_running',
  'upstream_waiting',
  'upstream_background_running',
  'upstream_background_waiting',
];

test('whatever servers and callers do, every gauge is back at 0 and the room of each key is free', async () => {
  const behaviours: Record<string, string> = {};
  const stage = await startFleetStage({
    instances: Object.fromEntries([HEALTHY, ...INSTANCES].map((name) => [name, []])),
    settings: {
      'fleet.concurrency': '16',
      'upstream.retries': '0',
      'upstream.concurrency': '2',
      'http.bodyBytesMax': '1048576',
      'http.bodiesBytesMax': '1048576',
    },
    script: (db, socket, body) => BEHAVIOURS[behaviours[db] ?? 'answers']!(db, socket, body),
  });
  const keys = [
    stage.proxy.key,
    await stage.createKey({ concurrency: 3 }),
    await stage.createKey({ concurrency: 1, fleet: 'write' }),
  ];
  const scenario = fc.record({
    behaviours: fc.tuple(...INSTANCES.map(() => fc.constantFrom(...Object.keys(BEHAVIOURS)))),
    /** The servers hang until the time limit. */
    isLimited: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
    requests: fc.array(request, { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ behaviours: drawn, isLimited, requests }) => {
      for (const [index, name] of INSTANCES.entries()) behaviours[name] = drawn[index]!;
      let isOver = false;
      const ended = Promise.all(requests.map((each) => run(stage, keys, each, isLimited))).finally(() => {
        isOver = true;
      });
      for (; !(isOver || isLimited); await pause()) {
        for (const socket of held) socket.destroy();
        held.clear();
      }
      await ended;
      await expect.poll(() => readGauges(stage)).toEqual([]);
      await expect.poll(() => stage.upstream.sockets.size).toBe(0);
      for (const key of keys) {
        const call = { ...COUNT, erp_instance: { name: HEALTHY } };
        const { json } = await stage.proxy.call(call, { 'x-proxy-api': key, 'cache-control': 'no-cache' });
        expect(json.result).toBe(7);
      }
    }),
    { numRuns: countCases(100) },
  );
  // All bodies together may have 1 MiB: there is room for one of that size.
  const large = {
    ...COUNT,
    params: [[['name', '=', 'x'.repeat(1_000_000)]]],
    erp_instance: { name: HEALTHY },
  };
  expect((await stage.proxy.call(large)).json.result).toBe(7);
  expect(stage.proxy.log.filter(({ msg }) => msg === 'internal error')).toEqual([]);
});

type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

/** Sends one request, and ends as it says. */
async function run(
  stage: FleetStage,
  keys: readonly string[],
  each: Request,
  isLimited: boolean,
): Promise<void> {
  const { instances, concurrency, idempotencyKey, isLarge } = each;
  const call = isLarge ? { ...COUNT, params: [[['name', '=', 'x'.repeat(100_000)]]] } : COUNT;
  const leaves = each.end.startsWith('leaves');
  const response = await stage.open(
    { call, instances, concurrency },
    {
      'x-proxy-api': keys[each.key]!,
      // The shortest time limit.
      ...(isLimited ? { 'x-request-timeout': '1' } : {}),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
    },
  );
  if (each.end === 'leaves_after_a_line' && response.statusCode === 200) {
    await new Promise<void>((resolve) => {
      response.once('data', () => resolve());
      response.once('close', () => resolve());
    });
  }
  if (leaves) {
    response.on('error', () => {});
    response.destroy();
    return;
  }
  if (each.end === 'reads_late') await send(`${stage.proxy.url}/healthz`);
  await readReply(response);
}

async function readGauges({ proxy }: FleetStage): Promise<string[]> {
  const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
  return metrics
    .split('\n')
    .filter((line) => GAUGES.some((gauge) => new RegExp(`^erp_proxy_${gauge}[ {]`).test(line)))
    .filter((line) => !line.endsWith(' 0'));
}
