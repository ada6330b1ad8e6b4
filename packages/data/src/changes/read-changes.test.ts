/** How readChanges treats failures, and answers that no own module of Odoo gives. */
import { expect, test } from 'vitest';
import { BOUNDS, QUERY, type Reply, row, script } from './read-changes.fixture.ts';
import { readChanges } from './read-changes.ts';
import type { ChangesState } from './terms.ts';

/** A state whose copy is complete. */
async function copy(): Promise<ChangesState> {
  const { ask } = script([[row(1, 0)], [row(1, 0)], [], [row(1, 0)]]);
  const read = await readChanges(ask, QUERY, null, BOUNDS);
  expect(read).toMatchObject({ changes: [{ id: 1 }], more: false });
  return (read as { state: ChangesState }).state;
}

test.each([
  ['no list', '{}'],
  ['no JSON', '[{"id": 1'],
  ['a record without an id', [{ name: 'x', write_date: row(1, 1).write_date }]],
  ['a record without a time', [{ id: 1, name: 'x' }]],
  ['a time that is none', [{ ...row(1, 1), write_date: 'yesterday' }]],
  ['an empty time, although times were asked for', [{ ...row(1, 1), write_date: false }]],
  ['records that are not in their order', [row(2, 9), row(3, 8)]],
  ['a record twice', [row(2, 9), row(2, 9)]],
  ['more records than were asked for', [row(2, 9), row(3, 9), row(4, 9)]],
  ['records before the time that was asked for', [row(2, -5000)]],
])('refuses an answer with %s, and the state stays', async (_, reply) => {
  const { ask } = script([reply as Reply]);
  expect(await readChanges(ask, QUERY, await copy(), BOUNDS)).toMatchObject({
    fault: { type: 'answer_invalid' },
  });
});

test('refuses a copy that is not in the order of ids', async () => {
  const { ask } = script([[row(9, 0)], [row(5, 0), row(4, 0)]]);
  expect(await readChanges(ask, QUERY, null, BOUNDS)).toMatchObject({ fault: { type: 'answer_invalid' } });
});

test('a failure is returned; after changes, they are, and the next call meets it', async () => {
  const state = await copy();
  const failed = script([{ failure: 'down' }]);
  expect(await readChanges(failed.ask, QUERY, state, BOUNDS)).toEqual({ failure: 'down' });
  const { ask } = script([[row(2, 1), row(3, 2)], { failure: 'down' }]);
  const read = await readChanges(ask, QUERY, state, BOUNDS);
  expect(read).toMatchObject({ changes: [{ id: 2 }], more: true });
  const next = script([[row(3, 2)], []]);
  expect(await readChanges(next.ask, QUERY, (read as { state: ChangesState }).state, BOUNDS)).toMatchObject({
    changes: [{ id: 3 }],
    more: false,
  });
});

test('a page that is too large is asked for with fewer records, down to one', async () => {
  const state = await copy();
  const { ask, asked } = script([{ failure: 'large', cause: 'too_large' }]);
  expect(await readChanges(ask, QUERY, state, { ...BOUNDS, pageMax: 100 })).toEqual({ failure: 'large' });
  expect(asked.map(({ keyword }) => keyword['limit'])).toEqual(['100', '25', '6', '1']);
});

test('an answer ends when its time, its changes or its bytes are used up, and the next one goes on', async () => {
  const state = await copy();
  const rows = [row(2, 1, 'y'.repeat(600)), row(3, 2, 'y'.repeat(600))];
  const early = script([rows]);
  const read = await readChanges(early.ask, QUERY, state, { ...BOUNDS, isOver: () => true });
  expect([early.asked.length, read]).toMatchObject([1, { changes: [{ id: 2 }], more: true }]);
  const one = await readChanges(script([rows]).ask, QUERY, state, { ...BOUNDS, pageMax: 10, changesMax: 1 });
  expect(one).toMatchObject({ changes: [{ id: 2 }], more: true });
});
