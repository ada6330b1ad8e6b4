import { expect, test } from 'vitest';
import { readNumber } from './read-number.ts';

test.each([
  ['', ''],
  ['-', ''],
  ['.', ''],
  ['-5', -5],
  ['1.', 1],
  ['0.0', 0],
  ['0.05', 0.05],
  ['10.50', 10.5],
  [7, 7],
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', '9007199254740993'],
])('%j is read as %j', (entered, value) => {
  expect(readNumber(entered)).toBe(value);
});
