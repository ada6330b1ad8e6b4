import { describe, expect, test } from 'vitest';
import { someMember, someName, someString } from './strings.ts';

const span = (text: string) => ({ start: 0, end: Buffer.byteLength(text) });

test('visits every string once, including names', () => {
  const text = '[ "a" , {"b\\"":["c",{"":"\\\\"}]},1.5,"é" ]';
  const seen: string[] = [];
  const bytes = Buffer.from(text);
  const visit = (start: number, end: number) => {
    seen.push(bytes.toString('utf8', start, end));
    return false;
  };
  expect(someString(bytes, span(text), visit)).toBe(false);
  expect(seen).toEqual(['"a"', '"b\\""', '"c"', '""', '"\\\\"', '"é"']);
});

test('stops at the first string that passes', () => {
  let count = 0;
  expect(someString(Buffer.from('["a","b","c"]'), span('["a","b","c"]'), () => ++count === 2)).toBe(true);
  expect(count).toBe(2);
});

test('visits names only, each with the index of its value', () => {
  const text = '{"a" : ["b", {"c":"d"}], "e": 1}';
  const bytes = Buffer.from(text);
  const seen: string[] = [];
  someName(bytes, span(text), (start, end, valueStart) => {
    seen.push(bytes.toString('utf8', start, end) + bytes.toString('utf8', valueStart, valueStart + 1));
    return false;
  });
  expect(seen).toEqual(['"a"[', '"c""', '"e"1']);
});

describe('a member with a given name', () => {
  const find = (text: string) => {
    const values: string[] = [];
    const bytes = Buffer.from(text);
    someMember(bytes, span(text), ['fields', 'fieldset'], (at) => {
      values.push(bytes.toString('utf8', at, at + 1));
      return false;
    });
    return values;
  };

  test.each<[string, string[]]>([
    ['{"fields":1}', ['1']],
    ['[[{"a":{ "fields" : 1 }}],{"fields":[2]}]', ['1', '[']],
    ['{"fields":{"fields":2},"fields":3}', ['{', '2', '3']],
    ['{"f\\u0069elds":1,"\\u0066\\u0069\\u0065\\u006C\\u006c\\u0064\\u0073":2}', ['1']],
    ['{"\\u0066\\u0069\\u0065\\u006C\\u0064\\u0073":2}', ['2']],
    ['{"fieldset":1}', ['1']],
  ])('is found at any depth and with any escapes: %s', (text, values) => {
    expect(find(text)).toEqual(values);
  });

  test.each([
    '["fields",{"a":"fields"}]',
    '{"field":1,"fieldss":1,"Fields":1,"":1,"f\\u0069eld":1}',
    '{"f\\\\u0069elds":1}',
    '{"a":"\\"fields\\":1"}',
    '"fields"',
  ])('is not confused with similar text: %s', (text) => {
    expect(find(text)).toEqual([]);
  });
});
