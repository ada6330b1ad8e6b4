import { expect, test } from 'vitest';
import { printExactMoment, printMoment } from './print-moment.ts';

test('prints a time of this time zone', () => {
  const time = new Date(2026, 2, 1, 4, 5, 9, 7).toISOString();
  expect(printMoment(time)).toBe('2026-03-01 04:05:09');
  expect(printExactMoment(time)).toBe('2026-03-01 04:05:09.007');
});

test('a text that is no time stays as it is', () => {
  expect(printMoment('never')).toBe('never');
  expect(printExactMoment('never')).toBe('never');
});
