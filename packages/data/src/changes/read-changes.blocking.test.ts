import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import { findGone } from './find-gone.ts';
import { listIds } from './list-ids.ts';
import { BOUNDS, QUERY, row, script } from './read-changes.fixture.ts';
import { readChanges } from './read-changes.ts';
import type { Ask } from './terms.ts';

test('a page of many short records does not keep the event loop', async () => {
  const records = Array.from({ length: 3000 }, (_, index) => row(index + 1, index));
  const bounds = { ...BOUNDS, changesMax: 3000, bytesMax: 10_000_000, pageMax: 3000 };
  const read = async ({ ask }: ReturnType<typeof script>) =>
    expect(await readChanges(ask, QUERY, null, bounds)).toMatchObject({ changes: { length: 3000 } });
  const prepare = () => script([[row(1, 0)], JSON.stringify(records), []]);
  expect(await measureBlocking(read, prepare)).toBeLessThan(BLOCKED_MS_MAX);
});

const CLOCK = { asked: 1_800_000_100, answered: 1_800_000_101 };

test('neither does an answer of very many ids, which were not asked for', async () => {
  const result = Buffer.from(`[${Array.from({ length: 4_000_000 }, (_, index) => index + 1)}]`);
  const ask: Ask<never> = async () => ({ result, limit: null, clock: CLOCK });
  const read = async () => {
    const fault = { fault: { type: 'answer_invalid' } };
    expect(await findGone(ask, QUERY, [1, 2, 3])).toMatchObject(fault);
    expect(await listIds(ask, QUERY, 1_000_000)).toMatchObject(fault);
  };
  expect(await measureBlocking(read)).toBeLessThan(BLOCKED_MS_MAX);
});
