/** Jobs of tokens of an identity provider: the token is checked again when the job runs. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printInstance } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { describeIssuer, makeClaims, makeKey, signToken, startIssuer } from '../tokens/issuer.ts';
import { QUICK_TIMES } from './job-stage.ts';

const key = makeKey('first');
const SUBJECT = 'ada';

/** Odoo answers each call when `answer` is called. */
async function startStage(settings: Record<string, string> = {}) {
  const hung = Promise.withResolvers<void>();
  const issuer = closeAfterTest(await startIssuer());
  const upstream = closeAfterTest(
    await startUpstream(async (socket) => {
      await hung.promise;
      answerLikeOdoo(socket, printResult('[{"id": 3}]'));
    }),
  );
  const time = { now: Date.now() };
  const proxy = closeAfterTest(
    await startProxy({
      allow: [upstream.url],
      clock: () => time.now,
      jobTimes: QUICK_TIMES,
      settings: {
        'auth.issuers': JSON.stringify([describeIssuer(issuer)]),
        'http.publicUrl': 'https://erp.example.com',
        'jobs.concurrency': '1',
        ...settings,
      },
    }),
  );
  const makeToken = () => signToken(key, makeClaims(issuer, time.now, { sub: SUBJECT }));
  const ask = async (token: string, method: string, path: string, body?: string) => {
    const authorization = `Bearer ${token}`;
    const headers = { authorization, 'content-type': 'application/json', prefer: 'respond-async' };
    const answer = await send(proxy.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { ...answer, json: JSON.parse(answer.body.toString()) };
  };
  const call = `{"id": 1, "action": "read", "model_id": "res.partner", "params": [[3]], "erp_instance": ${printInstance(upstream.url)}}`;
  const start = (token: string) => ask(token, 'POST', '/api/erp/execute', call);
  return {
    proxy,
    time,
    makeToken,
    start,
    answer: hung.resolve,
    read: (token: string, path: string) => ask(token, 'GET', path),
    /** Starts a job that runs, and another one that waits for it. Returns the path of the second one. */
    async startWaiting(): Promise<string> {
      const token = makeToken();
      const first = await start(token);
      await expect
        .poll(async () => (await ask(token, 'GET', first.headers.location!)).json.state)
        .toBe('running');
      return (await start(token)).headers.location!;
    },
    async waitForEnd(path: string) {
      const token = makeToken();
      await expect.poll(async () => (await ask(token, 'GET', path)).json.ended_at).not.toBeNull();
      return (await ask(token, 'GET', path)).json;
    },
  };
}

test('runs with the rights of the token, and every token of the person shows it', async () => {
  const { makeToken, start, answer, waitForEnd, read } = await startStage();
  answer();
  const { status, headers } = await start(makeToken());
  expect(status).toBe(202);
  expect(await waitForEnd(headers.location!)).toMatchObject({ state: 'done' });
  const result = await read(makeToken(), `${headers.location}/result`);
  expect(result.json).toMatchObject({ id: 1, result: [{ id: 3 }] });
});

test('a token that has expired when the job runs is its error, and Odoo gets nothing more', async () => {
  const { time, answer, startWaiting, waitForEnd } = await startStage();
  const path = await startWaiting();
  time.now += 3_600_000;
  answer();
  const job = await waitForEnd(path);
  expect(job).toMatchObject({ state: 'failed', error: { data: { type: 'unauthorized' } } });
  expect(job.error.message).toMatch(/^The token of the job has expired/);
});

test('a person who is denied meanwhile gets no result', async () => {
  const { proxy, answer, startWaiting } = await startStage();
  const path = await startWaiting();
  await proxy.app.adminFor(TEST_ACTOR).denySubject({ id: `corp/${SUBJECT}` });
  answer();
  const id = path.split('/').at(-1)!;
  await expect.poll(async () => (await proxy.app.store.jobs.find(id))?.state).toBe('failed');
});

test('beyond `jobs.waitingMax`, a request is refused, and may be sent again', async () => {
  const { makeToken, start, startWaiting, answer } = await startStage({ 'jobs.waitingMax': '2' });
  await startWaiting();
  const refused = await start(makeToken());
  expect([refused.status, refused.json.error.data]).toMatchObject([
    503,
    { type: 'overloaded', retryable: true, outcome: 'not_sent' },
  ]);
  expect(refused.json.error.message).toContain('`jobs.waitingMax`');
  expect(refused.headers['retry-after']).toBe('60');
  answer();
});
