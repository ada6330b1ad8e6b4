import { expect, test } from 'vitest';
import { printAge } from './print-age.ts';

test.each([
  [0, 'just now'],
  [-59_000, 'just now'],
  [30_000, 'in a moment'],
  [-60_000, '1 minute ago'],
  [-3 * 3_600_000, '3 hours ago'],
  [2 * 86_400_000, 'in 2 days'],
  [-400 * 86_400_000, 'last year'],
])('prints %i ms as "%s"', (distanceMs, text) => {
  expect(printAge(distanceMs)).toBe(text);
});
