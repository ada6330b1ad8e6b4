import { describe, expect, test } from 'vitest';
import { type NamedCall, readNamedCall } from './json2-named.ts';

function read(params: string, keyword: string, records: NamedCall['records'] = 'unsaid') {
  const outcome = readNamedCall({ params: Buffer.from(params), keyword: Buffer.from(keyword), records });
  return 'body' in outcome
    ? { body: Buffer.from(outcome.body).toString(), isIdsGuess: outcome.isIdsGuess }
    : outcome.unmappable;
}

describe('records that the caller named', () => {
  test.each([
    ['[[1, 2]]', '{"x":1.0}', '{"ids":[1, 2],"x":1.0}'],
    ['[7]', '{ "x": 9007199254740993 }', '{"ids":7, "x": 9007199254740993 }'],
    ['[[1]]', '{ }', '{"ids":[1] }'],
    ['[[1]]', '{"context":[],"x":1}', '{"ids":[1],"x":1}'],
    ['[[1]]', '{"context":false}', '{"ids":[1]}'],
    ['[[1]]', '{"context":{"lang":"fr_FR"}}', '{"ids":[1],"context":{"lang":"fr_FR"}}'],
  ])('%s with %s are sent as %s', (params, keyword, body) => {
    expect(read(params, keyword, 'given')).toEqual({ body, isIdsGuess: false });
  });
});

// /json/2 does not take these for ids, so a method of the model would run without arguments.
test.each(['[[]]', '[[ ]]', '[0]', '[-0]', '[0.0]', '[0e7]'])(
  'records by name that are none are not sent: %s',
  (params) => {
    expect(read(params, '{}', 'given')).toMatch(/`ids` is empty/);
  },
);

describe('a method that takes no records, according to the caller', () => {
  test.each([
    ['{}', '{}'],
    ['{"x":1}', '{"x":1}'],
    ['{"context":[],"x":1}', '{"x":1}'],
    ['{"context":{"lang":"fr_FR"}}', '{"context":{"lang":"fr_FR"}}'],
  ])('gets %s', (keyword, body) => {
    expect(read('[]', keyword, 'none')).toEqual({ body, isIdsGuess: false });
  });

  test('gets no positional arguments', () => {
    expect(read('[[1]]', '{}', 'none')).toMatch(/documentation/);
  });
});

describe('a single positional list of ids', () => {
  test.each([
    ['[[1,2]]', '{}', '{"ids":[1,2]}'],
    ['[7]', '{"x":1}', '{"ids":7,"x":1}'],
    ['[ [ 3 ] ]', '{"x":1}', '{"ids":[ 3 ],"x":1}'],
  ])('%s with %s is sent as %s, and may be refused', (params, keyword, body) => {
    expect(read(params, keyword)).toEqual({ body, isIdsGuess: true });
  });

  // /json/2 ignores an empty list, so a method of the model would run without arguments.
  test.each([
    '[[]]',
    '[0]',
    '[[0]]',
    '[[-1]]',
    '[["1"]]',
    '["1"]',
    '[null]',
    '[{"id":1}]',
    '[[[1]]]',
    '[[1],2]',
  ])('%s is not taken for ids', (params) => {
    expect(read(params, '{}')).toMatch(/documentation/);
  });
});

test.each<[string, string, NamedCall['records'], RegExp]>([
  ['[]', '{}', 'unsaid', /`ids` is missing/],
  ['[]', '{"x":1}', 'unsaid', /`ids` is missing/],
  ['[[1]]', '{"ids":[1]}', 'unsaid', /twice/],
  ['[[1]]', '{"context":[1]}', 'given', /context/],
  ['[[1]]', '{"context":"fr_FR"}', 'unsaid', /context/],
])('guesses nothing about %s with %s (%s)', (params, keyword, records, reason) => {
  expect(read(params, keyword, records)).toMatch(reason);
});
