import { expect, test } from 'vitest';
import { ExactNumber, parseExactly, sliceResult } from './exact-json.ts';

test.each(['9007199254740993', '-12345678901234567890', '100.0', '1e400', '0.10000000000000000555', '-0'])(
  'the number %s keeps its text, also within a list that is printed again',
  (source) => {
    expect(parseExactly(source)).toEqual(new ExactNumber(source));
    expect(JSON.stringify(parseExactly(`{"a":[${source}]}`))).toBe(`{"a":[${source}]}`);
  },
);

test('a value that is nested very deep is parsed without its digits', () => {
  const deep = `${'['.repeat(50_000)}1.0${']'.repeat(50_000)}`;
  expect(parseExactly(`[7, ${deep}]`)).toHaveProperty('0', 7);
});

test('other values are those of JSON.parse', () => {
  const text = '{"a":[1,0.5,"9007199254740993",null,true],"b":{"__proto__":2}}';
  expect(parseExactly(text)).toEqual(JSON.parse(text));
});

test.each([
  ['{"id":1,"result":[1,2,3]}', 2, '[1,2]'],
  ['{"id":1,"result":[1,2]}', 2, '[1,2]'],
  ['{"id":1,"result":[ 1 , 2 ] }', 5, '[ 1 , 2 ]'],
  ['{"result":[]}', 5, '[]'],
  ['{"result": [ ] }', 5, '[ ]'],
  ['{"result":7 }', 5, '7'],
  ['{"result":{"a":[1,{"b":"]}"}]},"id":2}', 5, '{"a":[1,{"b":"]}"}]}'],
  [
    '{"x":{"result":1},"y":"\\"result\\":[8]\\\\","result":[{"a":"}]\\"\\\\"},{"b":2}]}',
    1,
    '[{"a":"}]\\"\\\\"}]',
  ],
  ['{"result":["a,b]",[1,[2]],{}]}', 2, '["a,b]",[1,[2]]]'],
  ['{"error":{}}', 5, 'null'],
])('of %s, the first %i items are %s', (answer, itemsMax, text) => {
  const slice = sliceResult(answer, itemsMax);
  expect(slice).toBe(text);
  const { result = null } = JSON.parse(answer);
  expect(JSON.parse(slice)).toEqual(Array.isArray(result) ? result.slice(0, itemsMax) : result);
});

test('a text of megabytes is passed over', () => {
  const record = { data: 'x\\"'.repeat(1_000_000) };
  expect(JSON.parse(sliceResult(JSON.stringify({ result: [record, 1] }), 1))).toEqual([record]);
});
