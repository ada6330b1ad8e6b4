/** Tests batches that time out while they wait behind hung calls: the queue of the database must remain intact. */
import { afterEach, expect, test } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { startPair } from '../pair.ts';
import { answerTrue, type Script } from '../scripted-upstream.ts';
import { readState } from './word-odoo.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const FIRST_ID = 100;

/** Holds back the answers to calls with `hang` in their parameters until `release`. */
function holdSome(): { script: Script; release(): void } {
  const held: (() => void)[] = [];
  return {
    script(socket, request, index) {
      if (request.body.includes('hang')) held.push(() => void answerTrue(socket, request, index));
      else return answerTrue(socket, request, index);
    },
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
  };
}

test.each([
  { hanging: 8, settings: {} },
  { hanging: 4, settings: { 'upstream.concurrency': '4' } },
])(
  'a batch of four that times out behind $hanging hung calls leaves the queue intact',
  async ({ hanging, settings }) => {
    const odoo = holdSome();
    const pair = await startPair(odoo.script, { settings });
    open.push(pair);
    const { proxy, upstream } = pair;
    const print = (id: number, word: string) =>
      printCall('', {
        id: String(id),
        params: `[[["name","=","${word}"]]]`,
        action: '"search"',
        erp_instance: printInstance(upstream.url),
      });
    const noSharing = { 'cache-control': 'no-cache' };
    // The first answer verifies the credentials, so that later calls are sent concurrently.
    expect((await proxy.call(print(1, 'first'), noSharing)).json.result).toBe(true);
    const calls = Array.from({ length: hanging }, (_, index) =>
      proxy.call(print(FIRST_ID + index, 'hang'), { ...noSharing, 'x-request-timeout': '30' }),
    );
    await expect.poll(() => readState(proxy)?.running).toBe(hanging);
    const batch = proxy.call(`[${[1, 2, 3, 4].map((id) => print(id, 'batch')).join()}]`, {
      ...noSharing,
      'x-request-timeout': '2',
    });
    await expect.poll(() => readState(proxy)?.waiting).toBe(4);
    const answers: { id: number; error: object }[] = (await batch).json;
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    const unsent = { code: -32013, data: { type: 'overloaded', outcome: 'not_sent', retryable: true } };
    for (const { error } of answers) expect(error).toMatchObject(unsent);
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: hanging, waiting: 0 }]);
    odoo.release();
    for (const call of calls) expect((await call).json.result).toBe(true);
    await expect.poll(() => proxy.app.databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);
    // The database works as before, with its whole concurrency limit.
    const later = Array.from({ length: 20 }, (_, index) => proxy.call(print(index, 'later'), noSharing));
    for (const call of later) expect((await call).json.result).toBe(true);
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);
  },
);
