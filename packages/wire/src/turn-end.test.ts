import { expect, test } from 'vitest';
import { atTurnEnd, type SocketUse } from './turn-end.ts';

const ORDER: SocketUse[] = ['send a request', 'connect', 'close', 'send an answer'];

test('functions run at the end of the turn, kind by kind, each kind in its order', async () => {
  const ran: string[] = [];
  for (const index of [1, 2])
    for (const use of ORDER.toReversed()) atTurnEnd(use, null, () => ran.push(use + index));
  for (let step = 0; step < 10; step++) await Promise.resolve();
  expect(ran).toEqual([]);
  await new Promise(setImmediate);
  expect(ran).toEqual(ORDER.flatMap((use) => [`${use}1`, `${use}2`]));
});

test('a function that is added by another runs at the end of the next turn', async () => {
  const ran: string[] = [];
  atTurnEnd('connect', null, () => {
    for (const use of ORDER) atTurnEnd(use, null, () => ran.push(use));
  });
  await new Promise(setImmediate);
  expect(ran).toEqual([]);
  await new Promise(setImmediate);
  expect(ran).toEqual(ORDER);
});

test('an error is uncaught, names the request that it served, and prevents no other function', async () => {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const errors: unknown[] = [];
  process.on('uncaughtException', (error) => errors.push(error));
  try {
    const ran: string[] = [];
    const error = new Error('test');
    atTurnEnd('connect', 'r1', () => {
      throw error;
    });
    atTurnEnd('connect', null, () => ran.push('connect'));
    atTurnEnd('close', null, () => ran.push('close'));
    await new Promise(setImmediate);
    expect(ran).toEqual(['connect', 'close']);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(errors).toEqual([error]);
    expect(error.stack).toMatch(/turn-end\.test\.ts.*for request r1$/s);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
});
