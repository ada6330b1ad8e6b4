import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

const { search } = openEnvironment(18);

// Results as real servers of 16 and 18 gave them.
test.each([
  ['name', '=', 'x\0', 'A string literal cannot contain NUL (0x00) characters.'],
  ['name', 'ilike', 'x\0', 'A string literal cannot contain NUL (0x00) characters.'],
  ['name', 'in', 'x', "Invalid domain term ('name', 'in', 'x')"],
  ['name', 'not in', null, "Invalid domain term ('name', 'not in', None)"],
  ['name', '==', 'x', "Invalid leaf ('name', '==', 'x')"],
  ['color', '=', 'x', "invalid literal for int() with base 10: 'x'"],
  ['color', 'in', ['1', 'x'], "invalid literal for int() with base 10: 'x'"],
  ['color', '<', [5], "int() argument must be a string, a bytes-like object or a real number, not 'list'"],
  ['country_id', '=', true, 'operator does not exist: integer = boolean'],
  ['category_id', 'in', 'x', "Invalid domain term ('category_id', 'in', 'x')"],
  ['id', '=', 'x', 'invalid input syntax for type integer: "x"'],
])('a condition is refused: %s %s %j', (field, operator, value, message) => {
  expect(() => search('res.partner', [[field, operator, value]])).toThrow(message);
});

test.each([
  ['name', '=like', 5, "The pattern to match must be a string in condition ('name', '=like', 5)"],
  ['color', '=', 'x', "invalid literal for int() with base 10: 'x'"],
  ['country_id', '=', true, 'operator does not exist: integer = boolean'],
  ['id', '=', true, 'operator does not exist: integer = boolean'],
  ['id', '=', 'x', 'invalid input syntax for type integer: "x"'],
])('19 refuses a condition: %s %s %j', (field, operator, value, message) => {
  expect(() => openEnvironment(19).search('res.partner', [[field, operator, value]])).toThrow(message);
});

test.each([
  ['name', 'in', false],
  ['name', 'not in', true],
  ['name', 'like', { a: 1 }],
  ['color', '=', '1'],
  ['color', 'in', [false, 1]],
  ['country_id', 'in', 'Belgium'],
  ['id', '=', '9'],
])('a condition is taken: %s %s %j', (field, operator, value) => {
  expect(() => search('res.partner', [[field, operator, value]])).not.toThrow();
});
