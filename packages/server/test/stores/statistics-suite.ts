/** The part of the store suite for statistics. */

import type { StatisticsRow, StatisticsStore } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';

const MINUTE = 60_000;

function makeRow(startsAt: number, changes: Partial<StatisticsRow> = {}): StatisticsRow {
  return { step: 'minute', startsAt, process: 'a', body: `{"at":${startsAt}}`, ...changes };
}

export function describeStatistics(use: () => StatisticsStore): void {
  const list = (changes: Partial<Parameters<StatisticsStore['list']>[0]> = {}) =>
    use().list({ step: 'minute', since: 0, until: 100 * MINUTE, after: null, limit: 100, ...changes });

  test('lists rows of a range by start and process', async () => {
    expect(await list()).toEqual([]);
    const rows = [
      makeRow(MINUTE),
      makeRow(2 * MINUTE, { process: 'B' }),
      makeRow(2 * MINUTE, { process: 'a' }),
      makeRow(3 * MINUTE),
    ];
    await use().put(rows.toReversed());
    await use().put([makeRow(MINUTE, { step: 'hour' }), makeRow(2 * MINUTE, { step: 'hour' })]);
    expect(await list()).toEqual(rows);
    expect(await list({ since: 2 * MINUTE, until: 3 * MINUTE })).toEqual(rows.slice(1, 3));
    expect(await list({ step: 'hour', since: MINUTE + 1 })).toHaveLength(1);
    expect(await list({ limit: 2 })).toEqual(rows.slice(0, 2));
    expect(await list({ after: rows[1]! })).toEqual(rows.slice(2));
    expect(await list({ after: rows[2]! })).toEqual(rows.slice(3));
  });

  test('a row replaces that of the same step, start and process', async () => {
    await use().put([makeRow(MINUTE), makeRow(MINUTE, { process: 'b' })]);
    await use().put([makeRow(MINUTE, { body: '{"é":"𝄞"}' })]);
    expect((await list()).map(({ body }) => body)).toEqual(['{"é":"𝄞"}', `{"at":${MINUTE}}`]);
  });

  test('removes old rows of a step in batches', async () => {
    await use().put([1, 2, 3, 4].map((at) => makeRow(at * MINUTE)));
    await use().put([makeRow(0, { step: 'hour' })]);
    expect(await use().prune('minute', 4 * MINUTE, 2)).toBe(2);
    expect(await use().prune('minute', 4 * MINUTE, 2)).toBe(1);
    expect(await use().prune('minute', 4 * MINUTE, 2)).toBe(0);
    expect((await list()).map(({ startsAt }) => startsAt)).toEqual([4 * MINUTE]);
    expect(await list({ step: 'hour' })).toHaveLength(1);
  });
}
