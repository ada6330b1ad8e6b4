/**
 * Tests that a policy and an instance that change continuously delay no call beyond its time limit, and leave no state
 * behind.
 */
import type { Policy } from '@erp-proxy/contract';
import { findVersion } from '@erp-proxy/control/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, UPSTREAM_KEY } from '../execute/expectations.ts';
import { startProxy } from '../harness.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult, ROLLED_BACK, startUpstream } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { pauseAtRandom } from '../time.ts';

const CALLS = countCases(1500);
const CALLERS = 25;
/** Shorter than the time that most calls take. */
const BETWEEN_CHANGES_MS_MAX = 4;

test('all gauges are 0 after calls whose policy and instance changed continuously', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`seed ${seed}\n`);
  const random = createRandom(seed);
  const upstream = await startUpstream(async (socket) => {
    const fate = random();
    await pauseAtRandom(random);
    if (fate < 0.15) socket.destroy();
    else if (fate < 0.25) answerLikeOdoo(socket, '', '502 Bad Gateway');
    else if (fate < 0.35) answerLikeOdoo(socket, ROLLED_BACK);
    else answerLikeOdoo(socket, printResult(fate < 0.5 ? `"${'x'.repeat(200_000)}"` : 'true'));
  });
  closeAfterTest(upstream);
  const proxy = await startProxy({
    allow: [upstream.url],
    settings: {
      'upstream.concurrency': '3',
      'upstream.retries': '3',
      'upstream.timeoutMs': '2000',
      'cache.bytesMax': '1000000',
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    },
  });
  closeAfterTest(proxy);
  const { keys, instances, databaseLimiters } = proxy.app;
  const all: Policy = { origins: [upstream.url], instances: ['*'], models: { '*': ['*'] }, cache: true };
  const policies: Policy[] = [
    { ...all, concurrency: CALLERS },
    { ...all, concurrency: CALLERS, limit_max: 7, companies: [1] },
    { ...all, concurrency: CALLERS, models: { 'res.partner': ['search'] }, read_only: true },
  ];
  const { key, record } = await keys.create({ name: 'app', policy: policies[0] as Policy });
  const server = { url: upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
  await instances.add({ name: 'prod', ...server, protocol: 'jsonrpc' });

  let isOver = false;
  async function flip() {
    for (let turn = 1; !isOver; turn++) {
      const { version } = (await keys.find(record.id)) ?? record;
      await keys.update(record.id, version, { policy: policies[turn % policies.length] as Policy });
      await instances.update(await findVersion(instances, 'prod', turn), { user_id: 2 + (turn % 3) });
      await pauseAtRandom(random, BETWEEN_CHANGES_MS_MAX);
    }
  }

  const outcomes: Record<string, number> = {};
  async function call(caller: number, turn: number): Promise<void> {
    const on = random() < 0.5 ? {} : { erp_instance: '{"name":"prod"}' };
    const what = random() < 0.5 ? { action: '"search"', params: '[[]]' } : { action: '"unlink"' };
    const print = (id: number) => printCall(upstream.url, { id: String(id), ...on, ...what });
    const { json } = await proxy.call(random() < 0.2 ? `[${[1, 2, 3].map(print)}]` : print(1), {
      'x-proxy-api': key,
      ...(random() < 0.4 && { 'idempotency-key': `${caller} ${Math.floor(turn / 3)}` }),
      ...(random() < 0.3 && { 'cache-control': 'max-age=5' }),
    });
    for (const answer of [json].flat()) {
      const outcome = answer.error?.data?.type ?? 'ok';
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  }
  async function callAgainAndAgain(caller: number) {
    // If an answer breaks off, the upstream has cut it.
    for (let turn = 0; turn < CALLS / CALLERS; turn++) await call(caller, turn).catch(() => {});
  }
  const flipping = flip();
  // On a busy machine few calls end in time.
  do await Promise.all(Array.from({ length: CALLERS }, (_, caller) => callAgainAndAgain(caller)));
  while (outcomes['ok'] === undefined || outcomes['policy_denied'] === undefined);
  isOver = true;
  await flipping;

  const description = `seed ${seed}: ${JSON.stringify(outcomes)}`;
  expect(outcomes['internal'], description).toBeUndefined();
  await expect.poll(() => databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);
  await expect
    .poll(
      async () => (await (await fetch(`${proxy.url}/metrics`)).text()).match(/requests_in_flight (\d+)/)?.[1],
    )
    .toBe('0');
  // The key's concurrency is free again: as many calls as it allows are admitted.
  const { version } = (await keys.find(record.id)) ?? record;
  await keys.update(record.id, version, { policy: policies[0] as Policy });
  const headers = { 'x-proxy-api': key, 'x-request-timeout': '20' };
  const body = printCall(upstream.url, { action: '"search"', params: '[[]]' });
  const last = await Promise.all(Array.from({ length: CALLERS }, () => proxy.call(body, headers)));
  expect(last.map(({ json }) => json.error?.data?.rule)).toEqual(Array(CALLERS).fill(undefined));
});
