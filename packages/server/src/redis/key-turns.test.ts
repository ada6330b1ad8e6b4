import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AdmitAnswer } from './admit-script.ts';
import { type KeyTurn, KeyTurns } from './key-turns.ts';

interface Sent {
  id: string;
  requests: number;
  ended: readonly number[];
  settle: (outcome: AdmitAnswer[] | null | Error) => void;
}

const ADMITTED: AdmitAnswer = {
  refusedBy: 0,
  leases: 0,
  fullInMs: 0,
  dayCalls: 0,
  dayLeftMs: 0,
  monthCalls: 0,
};

/** `sent`: the scripts that were sent, whose answers the test gives. */
function makeTurns(): { turns: KeyTurns; sent: Sent[]; ask: (id: string) => Promise<AdmitAnswer | null> } {
  const sent: Sent[] = [];
  const policy = {};
  const turns = new KeyTurns(({ id, requests, ended }: KeyTurn) => {
    const { promise, resolve, reject } = Promise.withResolvers<AdmitAnswer[] | null>();
    const settle: Sent['settle'] = (outcome) =>
      outcome instanceof Error ? reject(outcome) : resolve(outcome);
    sent.push({ id, requests: requests.length, ended, settle });
    return promise;
  });
  return { turns, sent, ask: (id) => turns.request({ id, policy }, { calls: 1, leases: [] }) };
}

test('the requests of one turn of the event loop share a script', async () => {
  const { turns, sent, ask } = makeTurns();
  const asked = [ask('a'), ask('a')];
  turns.endLeases('a', [7]);
  await nextTurn();
  expect(sent).toMatchObject([{ id: 'a', requests: 2, ended: [7] }]);
  sent[0]?.settle([ADMITTED, { ...ADMITTED, refusedBy: 1 }]);
  expect(await Promise.all(asked)).toMatchObject([{ refusedBy: 0 }, { refusedBy: 1 }]);
});

test('requests that come while a script of their key runs share the next one', async () => {
  const { turns, sent, ask } = makeTurns();
  void ask('a');
  await nextTurn();
  const later = [];
  for (let n = 0; n < 3; n++) {
    later.push(ask('a'));
    turns.endLeases('a', [n]);
    await nextTurn();
  }
  expect(sent).toHaveLength(1);
  sent[0]?.settle([ADMITTED]);
  await nextTurn();
  await nextTurn();
  expect(sent).toMatchObject([{ requests: 1 }, { requests: 3, ended: [0, 1, 2] }]);
  sent[1]?.settle([ADMITTED, ADMITTED, ADMITTED]);
  expect(await Promise.all(later)).toEqual([ADMITTED, ADMITTED, ADMITTED]);
});

test('other keys do not wait for it', async () => {
  const { sent, ask } = makeTurns();
  void ask('a');
  await nextTurn();
  void ask('b');
  await nextTurn();
  expect(sent.map(({ id }) => id)).toEqual(['a', 'b']);
});

test.each([
  ['was not run', null],
  ['failed', new Error('broken')],
])('a script that %s does not keep the next one waiting', async (_what, outcome) => {
  const { sent, ask } = makeTurns();
  const first = ask('a').catch((error: unknown) => error);
  await nextTurn();
  const second = ask('a');
  sent[0]?.settle(outcome);
  expect(await first).toBe(outcome);
  await expect.poll(() => sent.length).toBe(2);
  sent[1]?.settle([ADMITTED]);
  expect(await second).toEqual(ADMITTED);
});

test('a turn with as many requests as a script takes is sent while another one runs', async () => {
  const { sent, ask } = makeTurns();
  void ask('a');
  await nextTurn();
  for (let n = 0; n < 150; n++) void ask('a');
  expect(sent.map(({ requests }) => requests)).toEqual([1, 100]);
  sent[0]?.settle([ADMITTED]);
  await nextTurn();
  await nextTurn();
  expect(sent).toHaveLength(2);
  sent[1]?.settle([]);
  await expect.poll(() => sent.length).toBe(3);
  expect(sent[2]?.requests).toBe(50);
});
