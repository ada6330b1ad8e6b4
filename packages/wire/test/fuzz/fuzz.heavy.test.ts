/** The fuzzer finds planted faults. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { Found, Searched } from './search.fixture.ts';
import { TARGETS } from './targets.ts';

/** The seed is always the same, so that the result is, too. */
async function search(searched: Searched, casesMax: number): Promise<Found> {
  const workerData = { searched, casesMax };
  const worker = new Worker(new URL('./search.fixture.ts', import.meta.url), { workerData });
  const [found]: [Found] = (await once(worker, 'message')) as [Found];
  await worker.terminate();
  return found;
}

test('finds an input to which only coverage leads, and shortens it', async () => {
  const { failure } = await search('nested checks', 100_000);
  expect(failure).toEqual({ input: 'bug', message: 'Error: the planted fault' });
});

test("finds a reader of requests that differs from Node's", async () => {
  const { failure } = await search('blank for NUL', 20_000);
  expect(failure?.message).toContain('Node');
  expect(failure?.input).toContain('\0');
  const [requests] = TARGETS.filter(({ name }) => name === 'plain-request');
  expect(await requests?.run(Buffer.from(failure!.input, 'latin1'))).toContain('not plain');
});

test('the same seed gives the same run', async () => {
  const [one, other] = [await search('chunks', 500), await search('chunks', 500)];
  expect(one.corpus.length).toBeGreaterThan(3);
  expect(other).toEqual(one);
});
