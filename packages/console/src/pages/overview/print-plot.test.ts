import { expect, test } from 'vitest';
import { describePlot, printAxisTime, printCount, printDuration } from './print-plot.ts';

test('prints times of an axis by the length of its range', () => {
  const at = new Date(2026, 2, 31, 4, 5).getTime();
  expect(printAxisTime(at, 3_600_000)).toBe('04:05');
  expect(printAxisTime(at, 30 * 86_400_000)).toBe('Mar 31');
});

test('prints values', () => {
  expect([0, 950, 1_234].map(printCount)).toEqual(['0', '950', '1.2K']);
  expect([0, 0.44, 12.3, 1_500].map(printDuration)).toEqual(['0 ms', '0.4 ms', '12 ms', '1.5 s']);
});

test('describes the highest values for those who do not see the plot', () => {
  const [first, second] = [new Date(2026, 2, 31, 4, 5).getTime(), new Date(2026, 2, 31, 4, 6).getTime()];
  const text = describePlot(
    'Calls',
    [
      { at: first, good: 7, bad: 0 },
      { at: second, good: 2, bad: null },
    ],
    [
      { name: 'good', label: 'Succeeded' },
      { name: 'bad', label: 'Failed' },
    ],
    String,
  );
  expect(text).toBe('Calls. Succeeded: at most 7, at 2026-03-31 04:05:00.');
});
