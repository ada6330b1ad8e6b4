import { describe, expect, test } from 'vitest';
import { recordedExecuteKw, recordedJson2 } from '../../test/recorded-protocols.ts';
import { chooseResultShape, unwrapOne } from './json2-result.ts';

const unwrap = (text: string) => {
  const bytes = unwrapOne(Buffer.from(text));
  return bytes === null ? null : Buffer.from(bytes).toString();
};

/** Recorded results that differ because records or texts had changed between the recordings. */
const OTHER_RECORDS: Record<string, [pattern: RegExp, why: string]> = {
  'copy-default': [/^\[\d+\]$/, 'the next id'],
  copy: [/^\[\d+\]$/, 'the next id'],
  'create-list': [/^\[\d+, \d+\]$/, 'the next ids'],
  'create-one-dict': [/^\d+$/, 'the next id'],
  'create-unicode': [/^\[\d+\]$/, 'the next id'],
  'create-x2many-commands': [/^\[\d+\]$/, 'the next id'],
  'message-post': [/^\[\d+\]$/, 'the next id'],
  'name-create': [/^\[\d+, "Tag [^"]*"\]$/, 'the next id and another name'],
  'read-date-float-one': [/^\[\{"id": \d+, "name": "2031-02-0[34]", "rate": 1\.0,.*\}\]$/, 'one more record'],
  'read-unicode': [/^\[\{"id": (75|85), "name": "Zoë .*"\}\]$/s, 'the record created before'],
  'sale-order-action-quotation-send': [
    /^\{"name": "Send", .*"default_res_ids": \[2[34]\]/,
    'the order created before',
  ],
  'sale-order-create': [/^\[\d+\]$/, 'the next id'],
};

describe('a result recorded over both protocols', () => {
  const pairs = recordedExecuteKw.flatMap((call) => {
    const json2 = recordedJson2.find(
      ({ name, path }) => name === call.name && path.endsWith(`/${call.method}`),
    );
    return json2?.status === 200 && 'result' in call.answer
      ? [{ ...call, result: call.answer.result, json2 }]
      : [];
  });

  test.each(pairs)(
    'has the same bytes in both, except for create of one record: $name',
    ({ name, method, params, result, json2 }) => {
      const shape = chooseResultShape(method, params);
      expect(shape).toBe(name === 'create-one-dict' ? 'unwrap_one' : 'same');
      const converted = shape === 'same' ? json2.body : unwrap(json2.body);
      const other = OTHER_RECORDS[name];
      if (other === undefined) expect(converted).toBe(result);
      else {
        expect(converted).toMatch(other[0]);
        expect(result).toMatch(other[0]);
        expect(converted).not.toBe(result);
      }
    },
  );

  test('exists for enough operations', () => {
    expect(pairs.length).toBeGreaterThan(50);
    expect(pairs.filter(({ name }) => name in OTHER_RECORDS).length).toBe(Object.keys(OTHER_RECORDS).length);
    expect(pairs.some(({ result }) => result === 'null')).toBe(true);
  });
});

test.each([
  ['create', '[{"a":1}]', 'unwrap_one'],
  ['create', '[ {} ,1]', 'unwrap_one'],
  ['create', '[[{"a":1}]]', 'same'],
  ['create', '["x"]', 'same'],
  ['create', '[]', 'same'],
  ['copy', '[{"a":1}]', 'same'],
  ['web_save', '[{"a":1}]', 'same'],
])('the result of %s with %s is passed on as %s', (method, params, shape) => {
  expect(chooseResultShape(method, Buffer.from(params))).toBe(shape);
});

test.each([
  ['[82]', '82'],
  [' [ 82 ]\n', '82'],
  ['[12345678901234567890]', '12345678901234567890'],
  ['[]', 'false'],
  ['[1, 2]', null],
  ['["1"]', null],
  ['[[1]]', null],
  ['[null]', null],
  ['82', null],
  ['{"a":[1]}', null],
  ['[82', null],
  ['', null],
  ['<html>', null],
])('%j has the single number %j', (text, number) => {
  expect(unwrap(text)).toBe(number);
});
