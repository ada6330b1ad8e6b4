import { expect, test } from 'vitest';
import { readTime } from './time.ts';

test.each([
  ['2027-03-31T08:00:00Z', '2027-03-31T08:00:00.000Z'],
  ['2027-03-31T08:00Z', '2027-03-31T08:00:00.000Z'],
  ['2027-03-31T08:00:00.5+02:00', '2027-03-31T06:00:00.500Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ['2028-02-29T23:59:59-12:00', '2028-03-01T11:59:59.000Z'],
])('reads %s', (text, time) => {
  expect(readTime(text)).toBe(Date.parse(time));
});

test.each([
  '',
  '2027-03-31',
  '2027-03-31T08:00:00',
  '2027-02-29T00:00:00Z',
  '2027-13-01T00:00:00Z',
  'tomorrow',
  '9999-12-31T23:59:59-01:00',
  '0000-01-01T00:00:00+01:00',
  '0',
])('takes "%s" for no time', (text) => {
  expect(readTime(text)).toHaveProperty('error');
});
