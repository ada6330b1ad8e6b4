import type { FleetRow } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { chooseRows, countRows, listTags } from './choose-rows.ts';

function makeRow(name: string, changes: Partial<FleetRow> = {}): FleetRow {
  const key = { expires_at: null, state: 'ok' as const, rotate: false, failure: null };
  return {
    name,
    tags: [],
    url: `https://${name}.example`,
    db: name,
    version: '18.0',
    state: 'reachable',
    breaker: 'closed',
    key,
    calls: 1,
    errors: 0,
    p95_ms: 20,
    changed_at: '2026-12-01T00:00:00Z',
    ...changes,
  };
}

const ROWS = [
  makeRow('a', { tags: ['live', 'eu'] }),
  makeRow('b', { errors: 3 }),
  makeRow('c', { state: 'unknown' }),
  makeRow('d', { state: 'unreachable', tags: ['live'] }),
];
const names = (rows: readonly FleetRow[]) => rows.map(({ name }) => name).join('');

test('shows instances in trouble first', () => {
  expect(names(chooseRows(ROWS, { search: undefined, tag: undefined }))).toBe('dbac');
});

test('searches in name, address and tags, and filters by a tag', () => {
  expect(names(chooseRows(ROWS, { search: 'B.EXAMPLE', tag: undefined }))).toBe('b');
  expect(names(chooseRows(ROWS, { search: 'LIVE', tag: undefined }))).toBe('da');
  expect(names(chooseRows(ROWS, { search: undefined, tag: 'eu' }))).toBe('a');
});

test('counts rows in trouble, and lists the tags', () => {
  expect(countRows(ROWS)).toEqual({ unreachable: 1, failing: 1, endingKeys: 0 });
  expect(listTags(ROWS)).toEqual(['eu', 'live']);
});
