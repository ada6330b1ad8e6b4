import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../test/measure-blocking.ts';
import { BOUNDS, QUERY, row, script } from './read-changes.fixture.ts';
import { readChanges } from './read-changes.ts';

test('a page of many short records does not keep the event loop', async () => {
  const records = Array.from({ length: 3000 }, (_, index) => row(index + 1, index));
  const bounds = { ...BOUNDS, changesMax: 3000, bytesMax: 10_000_000, pageMax: 3000 };
  const read = async ({ ask }: ReturnType<typeof script>) =>
    expect(await readChanges(ask, QUERY, null, bounds)).toMatchObject({ changes: { length: 3000 } });
  const prepare = () => script([[row(1, 0)], JSON.stringify(records), []]);
  expect(await measureBlocking(read, prepare)).toBeLessThan(BLOCKED_MS_MAX);
});
