import { expect, test } from 'vitest';
import { placeHours } from './place-hours.ts';

test('hours without calls have a bar of zero', () => {
  const bars = placeHours({
    since: '2026-11-25T10:30:00Z',
    until: '2026-11-25T13:10:00Z',
    periods: [{ at: '2026-11-25T11:00:00Z', calls: 5, errors: { upstream_timeout: 1, internal: 2 } }],
  });
  expect(bars.map(({ calls, errors }) => [calls, errors])).toEqual([
    [0, 0],
    [5, 3],
    [0, 0],
    [0, 0],
  ]);
  expect(bars[1]?.at).toBe('2026-11-25T11:00:00.000Z');
});
