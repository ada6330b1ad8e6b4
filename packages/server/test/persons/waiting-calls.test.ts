/** Tests calls that wait while a connection or the identity of its instance changes. */
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { readSender, startScripted } from './stage.ts';

const WRITE = { action: 'write', model_id: 'res.partner' };

/** An instance with one call at a time. The first one is held back until `answer`. */
async function startHeld() {
  const held: Socket[] = [];
  const stage = await startScripted((socket) => void held.push(socket), { instance: { concurrency: 1 } });
  await stage.put('ada');
  await stage.put('bob');
  const first = stage.call('ada', { ...WRITE, params: [[1], {}] });
  await expect.poll(() => held.length).toBe(1);
  const second = stage.call('bob', { ...WRITE, params: [[2], {}] });
  await expect.poll(() => stage.proxy.app.databaseLimiters.states()[0]?.waiting).toBe(1);
  const answer = () => {
    for (const socket of held.splice(0)) answerLikeOdoo(socket, printResult('true'));
  };
  return { ...stage, first, second, held, answer };
}

test('a call that waits is not sent with a connection that was removed meanwhile', async () => {
  const { first, second, answer, remove, upstream } = await startHeld();
  await remove('bob');
  answer();
  expect((await first).status).toBe(200);
  expect((await second).json.error).toMatchObject({ data: { type: 'connect_required' } });
  expect(upstream.requests).toHaveLength(1);
});

test('a call that waits is sent with the connection that was renewed meanwhile', async () => {
  const { first, second, answer, held, put, upstream } = await startHeld();
  await put('bob', { apiKey: 'new-key-of-bob', userId: 9 });
  answer();
  expect((await first).status).toBe(200);
  await expect.poll(() => held.length).toBe(1);
  answer();
  expect((await second).status).toBe(200);
  expect(upstream.requests.map(readSender)).toEqual([
    { userId: 7, apiKey: 'key-of-ada' },
    { userId: 9, apiKey: 'new-key-of-bob' },
  ]);
});

test('a running call ends as it began, and one that waits follows the identity of its instance', async () => {
  const { first, second, answer, held, admin, upstream } = await startHeld();
  const own = { identity: 'shared', user_id: 5, api_key: 'key-of-the-instance' };
  expect((await admin('PATCH', '/instances/prod', own)).status).toBe(200);
  answer();
  expect((await first).status).toBe(200);
  const sent = () => upstream.requests.filter(({ body }) => body.includes('"write"')).map(readSender);
  await expect.poll(sent).toHaveLength(2);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  answer();
  expect((await second).status).toBe(200);
  expect(sent()[1]).toEqual({ userId: 5, apiKey: 'key-of-the-instance' });
});

test('a call that waits while its instance is switched to persons does not run as the user of the instance', async () => {
  const held: Socket[] = [];
  let isHolding = true;
  const { call, put, admin, upstream, proxy } = await startScripted(
    // The proxy also asks for the end of the key of the instance.
    (socket, { body }) => {
      if (isHolding && body.includes('"write"')) held.push(socket);
      else answerLikeOdoo(socket, printResult(body.includes('"write"') ? 'true' : '[]'));
    },
    { instance: { concurrency: 1, identity: 'shared', user_id: 5, api_key: 'key-of-the-instance' } },
  );
  const first = call('ada', { ...WRITE, params: [[1], {}] });
  await expect.poll(() => held.length).toBe(1);
  const waiting = [
    call('bob', { ...WRITE, params: [[2], {}] }),
    call('eve', { ...WRITE, params: [[3], {}] }),
  ];
  await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting).toBe(2);
  expect((await admin('PATCH', '/instances/prod', { identity: 'person' })).status).toBe(200);
  await put('eve', { userId: 9 });
  isHolding = false;
  for (const socket of held) answerLikeOdoo(socket, printResult('true'));
  expect((await first).status).toBe(200);
  const [bob, eve] = await Promise.all(waiting);
  expect(bob?.json.error).toMatchObject({ data: { type: 'connect_required' } });
  expect(eve?.status).toBe(200);
  const sent = upstream.requests.filter(({ body }) => body.includes('"write"')).map(readSender);
  expect(sent).toEqual([
    { userId: 5, apiKey: 'key-of-the-instance' },
    { userId: 9, apiKey: 'key-of-eve' },
  ]);
});
