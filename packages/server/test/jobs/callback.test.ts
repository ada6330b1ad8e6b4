/** `callback`: a subscription to `job.ended` reports the end of a job to its receiver. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type ProxyOptions, startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { answerLikeOdoo, makeCall, printResult, type Script, startUpstream } from '../scripted-upstream.ts';
import { refuseWith, startReceiver, TAKE } from '../subscriptions/receiver.ts';
import { SHORT_TIMES } from '../subscriptions/stage.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { MASTER_KEY, QUICK_TIMES, request, startJob, waitForEnd } from './job-stage.ts';

const answer: Script = (socket) => answerLikeOdoo(socket, printResult('[{"id": 1}]'));

async function startStage(options: ProxyOptions = {}, script: Script = answer) {
  const receiver = closeAfterTest(await startReceiver());
  const upstream = closeAfterTest(await startUpstream(script));
  const start = async (others: ProxyOptions = {}) =>
    closeAfterTest(
      await startProxy({
        subscriptionTimes: SHORT_TIMES,
        jobTimes: QUICK_TIMES,
        ...options,
        ...others,
        settings: {
          'vault.masterKey': MASTER_KEY,
          'egress.allow': [upstream.url, receiver.url].join(','),
          ...options.settings,
          ...others.settings,
        },
      }),
    );
  const proxy = await start();
  return {
    receiver,
    upstream,
    proxy,
    start,
    async subscribe(changes: object = {}) {
      const made = await proxy.app.adminFor(TEST_ACTOR).createSubscription({
        name: 'ended',
        events: ['job.ended'],
        url: `${receiver.url}/hook`,
        interval_seconds: 5,
        ...changes,
      });
      receiver.secrets.push(made.secret);
    },
  };
}

const withCallback = (name: string) => ({ headers: { prefer: `respond-async; callback=${name}` } });

test('reports the end of a job once, signed, with the job as its caller sees it', async () => {
  const { receiver, upstream, proxy, subscribe } = await startStage();
  await subscribe();
  const path = await startJob(proxy, makeCall(upstream.url), withCallback('ended'));
  await startJob(proxy, makeCall(upstream.url));
  const job = await waitForEnd(proxy, path);
  await expect.poll(() => receiver.received.length).toBe(1);
  const [delivery] = receiver.received;
  expect(delivery).toMatchObject({ fault: null, path: '/hook' });
  const { client_id } = delivery!.json.data;
  expect(delivery!.json).toEqual({
    type: 'job.ended',
    timestamp: expect.stringMatching(/^20.*Z$/),
    data: { subscription: 'ended', client_id, ...job },
  });
  expect(client_id).toMatch(/^\w+$/);
  // The second job has ended, too, and names no subscription.
  const second = await startJob(proxy, makeCall(upstream.url), withCallback('"ended"'));
  await waitForEnd(proxy, second);
  await expect
    .poll(() => receiver.received.map(({ json }) => json.data.id))
    .toEqual([job.id, second.split('/').at(-1)]);
});

test('a cancelled job and one that fails are reported', async () => {
  const hung = Promise.withResolvers<void>();
  const settings = { 'jobs.concurrency': '1' };
  const { receiver, upstream, proxy, subscribe } = await startStage({ settings }, async (socket) => {
    await hung.promise;
    socket.destroy();
  });
  await subscribe();
  const paths = [
    await startJob(proxy, makeCall(upstream.url), withCallback('ended')),
    await startJob(proxy, makeCall(upstream.url), withCallback('ended')),
  ];
  await request(proxy, 'DELETE', paths[1]!);
  hung.resolve();
  const states = new Map([
    [paths[0]!.split('/').at(-1), 'failed'],
    [paths[1]!.split('/').at(-1), 'cancelled'],
  ]);
  await expect
    .poll(() => new Map(receiver.received.map(({ json: { data } }) => [data.id, data.state])))
    .toEqual(states);
});

test.each([
  ['nothing', 'an unknown one'],
  ['ends', 'one to other events'],
  ['', 'an empty name'],
  ['../x', 'another text'],
])('the name %j is refused (%s), and no job is stored', async (name) => {
  const { upstream, proxy, subscribe } = await startStage();
  await subscribe({ name: 'ends', events: ['key.ends'] });
  const { status, json } = await request(proxy, 'POST', '/api/erp/execute', {
    ...withCallback(name),
    body: makeCall(upstream.url),
  });
  expect([status, json.error.data]).toEqual([
    400,
    { type: 'invalid_request', retryable: false, path: 'prefer' },
  ]);
  expect(json.error.message).toMatch(/^`callback` must be the name of a subscription to `job\.ended`/);
  expect(await proxy.app.store.jobs.list({ after: null, limit: 10 })).toEqual([]);
});

test('no receiver is stored at a private address that is not allowed', async () => {
  const { subscribe } = await startStage();
  await expect(subscribe({ url: 'https://10.0.0.7/hook' })).rejects.toMatchObject({
    problem: { faults: [{ path: 'url', message: expect.stringMatching(/10\.0\.0\.7 is private/) }] },
  });
});

test('a receiver that fails gets the report again, from another process too', async () => {
  const folder = makeFolder();
  const stage = await startStage({ settings: { 'store.url': `sqlite:${join(folder, 'store.db')}` } });
  const { receiver, upstream, proxy, subscribe, start } = stage;
  await subscribe();
  receiver.answer = refuseWith(503);
  const path = await startJob(proxy, makeCall(upstream.url), withCallback('ended'));
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await proxy.close();
  receiver.answer = TAKE;
  const other = await start();
  const before = receiver.received.length;
  await other.app.adminFor(TEST_ACTOR).resumeSubscription('ended');
  await expect.poll(() => receiver.received.length).toBe(before + 1);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  expect(receiver.received.at(-1)!.json.data).toMatchObject({
    id: path.split('/').at(-1),
    state: 'done',
  });
});
