import { expect, test } from 'vitest';
import { readNamedCall } from './json2-named.ts';

function read(params: string, keyword: string) {
  const outcome = readNamedCall(Buffer.from(params), Buffer.from(keyword));
  return 'body' in outcome ? Buffer.from(outcome.body).toString() : outcome.unmappable;
}

test.each([
  ['{"ids":[1, 2],"x":1.0}', '{"ids":[1, 2],"x":1.0}'],
  ['{ "x": 9007199254740993, "ids": 7 }', '{ "x": 9007199254740993, "ids": 7 }'],
  ['{"ids":[]}', '{"ids":[]}'],
])('keeps the bytes of %s', (keyword, body) => {
  expect(read('[]', keyword)).toBe(body);
  expect(read(' [ ] '.trim(), keyword)).toBe(body);
});

test.each([
  ['{"ids":null}', {}],
  ['{"ids":null,"x":1}', { x: 1 }],
  ['{"ids":null,"context":[],"x":1}', { x: 1 }],
  ['{"ids":null,"context":{"lang":"fr_FR"}}', { context: { lang: 'fr_FR' } }],
  ['{"x":1, "ids" : null}', { x: 1 }],
  ['{"x":1,"ids":null,"y":[2]}', { x: 1, y: [2] }],
  ['{"\\u0069ds":null,"y":2}', { y: 2 }],
])('sends %s to a method of the model, without ids', (keyword, expected) => {
  expect(JSON.parse(read('[]', keyword))).toEqual(expected);
});

test.each([
  ['[1]', '{"ids":[1]}', /documentation/],
  ['[null]', '{"ids":[1]}', /documentation/],
  ['[]', '{}', /`ids` is missing/],
  ['[]', '{"x":1}', /`ids` is missing/],
  ['[]', '{"IDS":[1]}', /`ids` is missing/],
  ['[]', '{"ids":"1"}', /must be an id/],
  ['[]', '{"ids":{"id":1}}', /must be an id/],
  ['[]', '{"ids":false}', /must be an id/],
  ['[]', '{"ids":[1],"context":[1]}', /context/],
  ['[]', '{"ids":[1],"context":"fr_FR"}', /context/],
])('guesses nothing of %s with %s', (params, keyword, reason) => {
  expect(read(params, keyword)).toMatch(reason);
});
