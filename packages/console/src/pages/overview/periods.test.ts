import type { CallStatistics, StatisticsView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { fillPeriods, listErrorTypes, measureNow } from './periods.ts';

const NOTHING: CallStatistics = {
  calls: 0,
  errors: {},
  refused: 0,
  shared: 0,
  replayed: 0,
  proxy_ms: null,
  odoo_ms: null,
};

const VIEW: StatisticsView = {
  since: '2026-03-31T12:00:00.000Z',
  until: '2026-03-31T12:04:30.000Z',
  step: 'minute',
  total: { ...NOTHING, calls: 9, errors: { user_error: 2, internal: 1, of_another_release: 1 } },
  periods: [
    {
      ...NOTHING,
      at: '2026-03-31T12:02:00.000Z',
      calls: 9,
      errors: { user_error: 2 },
      shared: 3,
      odoo_ms: { p50: 1, p95: 2, p99: 3 },
      in_flight_max: 4,
      queued_max: 5,
    },
  ],
  groups: [],
  now: { in_flight: 0, queued: 0 },
};

test('periods without calls are zero, without durations', () => {
  const points = fillPeriods(VIEW);
  expect(points.map(({ at }) => new Date(at).toISOString().slice(11, 16))).toEqual([
    '12:00',
    '12:01',
    '12:02',
    '12:03',
    '12:04',
  ]);
  expect(points[1]).toMatchObject({ succeeded: 0, failed: 0, shared: 0, in_flight: 0, odoo_p50: null });
  // Zeros are needed: otherwise a plot would draw the errors through the time between them.
  expect(points[1]).toMatchObject({ error_user_error: 0, error_internal: 0 });
  expect(points[2]).toMatchObject({ error_internal: 0 });
  expect(points[2]).toMatchObject({
    succeeded: 7,
    failed: 2,
    error_user_error: 2,
    shared: 3,
    in_flight: 4,
    queued: 5,
    odoo_p95: 2,
    proxy_p95: null,
  });
});

test('a range within a period begins with this period', () => {
  const points = fillPeriods({ ...VIEW, since: '2026-03-31T12:02:40Z', step: 'hour', periods: [] });
  expect(points.map(({ at }) => new Date(at).toISOString())).toEqual(['2026-03-31T12:00:00.000Z']);
});

test('types of errors keep the order of the table, others come last', () => {
  expect(listErrorTypes(VIEW)).toEqual(['internal', 'user_error', 'of_another_release']);
});

test('measures calls per minute and the share of errors', () => {
  expect(measureNow(VIEW)).toEqual({ perMinute: 2, errorShare: 4 / 9 });
  expect(measureNow({ ...VIEW, total: NOTHING })).toEqual({ perMinute: 0, errorShare: null });
});
