/**
 * Scans a table that changes between the scans, in pages of any size, with few runs: each changed record is returned,
 * and an unchanged one is returned again only beside a changed one.
 */
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import {
  addRecords,
  comparePlaces,
  compareRecords,
  countRecords,
  decodeRuns,
  encodeRuns,
  findScanStart,
  LAST_ID,
  limitRuns,
  type Place,
  type Run,
  type ScannedRecord,
} from './given-records.ts';

const RUNS_MAX = 8;
const BEGINNING: Place = { second: -1, id: 0 };
const END: Place = { second: Number.MAX_SAFE_INTEGER, id: LAST_ID };

/** Changes to apply between scans: the record `id` gets this second and digest. The digest 0 deletes it. */
const EDITS = fc.array(
  fc.record({
    id: fc.integer({ min: 1, max: 40 }),
    second: fc.integer({ min: 0, max: 12 }),
    digest: fc.bigInt(0n, 5n),
  }),
  { maxLength: 25 },
);
const SCANS = fc.array(
  fc.record({
    edits: EDITS,
    pageSize: fc.integer({ min: 1, max: 50 }),
    room: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 2, maxLength: 8 },
);

/** Digests as in production, so that their sums are equal by chance only. */
function hashVersion(...version: (number | bigint)[]): bigint {
  return hash('sha256', version.join(), 'buffer').readBigUInt64BE();
}

type Table = Map<number, { second: number; digest: bigint }>;

function listRecords(table: Table): ScannedRecord[] {
  return [...table].map(([id, record]) => ({ id, ...record })).sort(comparePlaces);
}

/** Scans as read-changes.ts does: the last second of a full page is left to the next page, or read by id. */
function scan(given: Run[], rows: ScannedRecord[], pageSize: number, room: number, start: Place) {
  let runs = given;
  let after = start;
  const gave: ScannedRecord[] = [];
  for (let pages = 0; comparePlaces(after, END) < 0; pages++) {
    expect(pages).toBeLessThan(1000);
    const rest = rows.filter((row) => comparePlaces(row, after) > 0);
    const page = rest.slice(0, pageSize);
    const last = page.at(-1);
    const earlier = page.filter(({ second }) => second < (last?.second ?? 0));
    const isWhole = rest.length <= pageSize;
    const complete = isWhole || earlier.length === 0 ? page : earlier;
    const upTo = isWhole
      ? END
      : earlier.length === 0
        ? (last as Place)
        : { second: (last as Place).second - 1, id: LAST_ID };
    const compared = compareRecords(runs, complete, { after, upTo, room });
    expect(comparePlaces(compared.reached, after)).toBeGreaterThan(0);
    gave.push(...compared.give);
    runs = limitRuns(compared.runs, compared.reached, RUNS_MAX);
    // Encoded and decoded, as if another process went on.
    runs = decodeRuns(encodeRuns(runs));
    expect(runs.toSorted((one, other) => comparePlaces(one.start, other.start))).toEqual(runs);
    expect(runs.length).toBeLessThanOrEqual(4 * RUNS_MAX);
    after = compared.reached;
  }
  return { runs, gave };
}

test('gives every record that has changed', () => {
  fc.assert(
    fc.property(SCANS, (scans) => {
      const table: Table = new Map();
      const known = new Map<number, string>();
      let runs: Run[] = [];
      for (const { edits, pageSize, room } of scans) {
        for (const { id, second, digest } of edits) {
          if (digest === 0n) table.delete(id);
          else table.set(id, { second, digest: hashVersion(id, second, digest) });
        }
        const rows = listRecords(table);
        const { gave, runs: next } = scan(runs, rows, pageSize, room, BEGINNING);
        for (const { id, second, digest } of gave) known.set(id, `${second} ${digest}`);
        for (const { id, second, digest } of rows) expect(known.get(id)).toBe(`${second} ${digest}`);
        expect(countRecords(next.filter(({ count }) => count > 0))).toBeLessThanOrEqual(rows.length);
        runs = next;
        // Nothing has changed since: a scan that can read each run as a whole returns nothing.
        expect(scan(runs, rows, 1000, 1000, BEGINNING).gave).toEqual([]);
        const second = findScanStart(runs, 6);
        expect(scan(runs, rows, 1000, 1000, { second, id: 0 }).gave).toEqual([]);
      }
    }),
    { numRuns: countCases(500) },
  );
});

test('records that are added while they are copied are known to the first scan', () => {
  fc.assert(
    fc.property(EDITS, fc.integer({ min: 1, max: 10 }), (edits, pageSize) => {
      const table: Table = new Map(
        edits.map(({ id, second, digest }) => [id, { second, digest: hashVersion(id, second, digest) }]),
      );
      const rows = listRecords(table);
      const byId = rows.toSorted((one, other) => one.id - other.id);
      let runs: Run[] = [];
      for (let at = 0; at < byId.length; at += pageSize)
        runs = limitRuns(addRecords(runs, byId.slice(at, at + pageSize)), null, RUNS_MAX);
      expect(countRecords(runs)).toBe(rows.length);
      expect(scan(runs, rows, 1000, 1000, BEGINNING).gave).toEqual([]);
    }),
  );
});

test('a record that was read twice before the first scan is known as it was read last', () => {
  fc.assert(
    fc.property(EDITS, EDITS, fc.integer({ min: 1, max: 10 }), (earlier, edits, pageSize) => {
      const version = ({ id, second, digest }: { id: number; second: number; digest: bigint }) =>
        ({ id, second, digest: hashVersion(id, second, digest) }) satisfies ScannedRecord;
      const byId = (list: typeof edits) => [
        ...new Map(list.map((edit) => [edit.id, version(edit)])).values(),
      ];
      const rows = byId(edits).toSorted((one, other) => one.id - other.id);
      // Begins with one run for each record.
      let runs = addRecords([], byId(earlier));
      for (let at = 0; at < rows.length; at += pageSize)
        runs = addRecords(runs, rows.slice(at, at + pageSize));
      expect(scan(runs, rows.toSorted(comparePlaces), 1000, 1000, BEGINNING).gave).toEqual([]);
    }),
  );
});
