import { expect, test } from 'vitest';
import type { Row } from './row.ts';
import { allIds, allTimes, keyTime, type Range } from './row-source.ts';
import { Table } from './table.ts';

const seed = Number(process.env['SEED'] ?? Date.now() % 100_000);

/** Returns a generator of integers from 0 to below `max`, which the seed determines. */
function makeRandom(state: number): (max: number) => number {
  let next = state;
  return (max) => {
    next = (next * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((next / 2_147_483_648) * max);
  };
}

test(`three layers of random changes give the rows of a plain map, by every index (SEED=${seed})`, () => {
  const random = makeRandom(seed);
  const wanted = new Map<number, Row>();
  let table = new Table();
  for (const changes of [600, 300, 150]) {
    table = new Table(table);
    for (let change = 0; change < changes; change++) {
      const id = 1 + random(500);
      const time = `2026-11-21 01:00:${String(10 + random(40))}.${String(random(3)).padEnd(6, '0')}`;
      const row =
        random(4) > 0 ? { id, write_date: random(9) > 0 ? time : null, parent_id: random(5) } : undefined;
      table.put(id, row);
      if (row) wanted.set(id, row);
      else wanted.delete(id);
      if (change % 150 === 0) expectSame(table, wanted, random);
    }
  }
  expectSame(table, wanted, random);
});

function expectSame(table: Table, wanted: Map<number, Row>, random: (max: number) => number): void {
  const rows = [...wanted.values()].sort((a, b) => Number(a['id']) - Number(b['id']));
  const byTime = [...rows].sort((a, b) => (keyTime(a) < keyTime(b) ? -1 : 1));
  expect([...table.scan(allIds)]).toEqual(rows);
  expect([...table.scan(allTimes, true)]).toEqual(byTime.toReversed());
  const min = random(500);
  const ids: Range = { index: 'id', min, max: min + 100 };
  const within = rows.filter((row) => Number(row['id']) >= min && Number(row['id']) <= min + 100);
  expect([...table.scan(ids, true)]).toEqual(within.toReversed());
  const from = `2026-11-21 01:00:${10 + random(40)}.000000`;
  const times: Range = { index: 'write_date', min: from, max: '2026-11-21 01:00:45.000000' };
  const isWithin = (row: Row) => {
    const time = String(row['write_date']);
    return row['write_date'] !== null && time >= from && time <= times.max;
  };
  expect([...table.scan(times)]).toEqual(byTime.filter(isWithin));
  expect(table.where('parent_id', 3)).toEqual(rows.filter((row) => row['parent_id'] === 3));
  expect(table.estimate(allIds)).toBeGreaterThanOrEqual(rows.length);
}
