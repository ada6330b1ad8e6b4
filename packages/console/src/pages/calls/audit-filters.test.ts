import { expect, test } from 'vitest';
import { hasFilters, printAuditCommand, readAuditSearch, toAuditQuery } from './audit-filters.ts';

const NOW = Date.parse('2026-03-31T12:00:00Z');

test('values of a URL that are not valid count as absent', () => {
  const search = readAuditSearch({
    kind: 'other',
    last: '9y',
    since: 'yesterday',
    model: '',
    outcome: {},
    x: 'y',
  });
  expect(hasFilters(search)).toBe(false);
  expect(toAuditQuery(search, NOW)).toEqual({});
});

test('a relative time becomes the begin of the search, and replaces fixed times', () => {
  const search = readAuditSearch({ last: '1h', since: '2020-01-01', until: '2021-01-01', key_id: 42 });
  expect(toAuditQuery(search, NOW)).toEqual({ since: '2026-03-31T11:00:00.000Z', key_id: '42' });
});

test('the command has the options of the search, quoted for a shell', () => {
  const search = readAuditSearch({ last: '24h', kind: 'call', client_id: 'a-B_1', rule: `models["it's"]` });
  expect(printAuditCommand('export', search)).toBe(
    `audit export --client-id a-B_1 --rule 'models["it'\\''s"]' --kind call --since 24h`,
  );
});
