/** docs/execute.md#limit: `keyword.limit` bounds the records of a call, by the rule of each method. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { collectSent, expectError, printCall, printExecuteKw } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

/** Prints a call twice: with its action, and with `call_method`. */
function printBoth(method: string, params: string | null, keyword: string): string[] {
  return [
    printCall(pair.upstream.url, { action: `"${method}"`, params, keyword }),
    printCall(pair.upstream.url, { action: '"call_method"', fn_name: `"${method}"`, params, keyword }),
  ];
}

async function expectSent(given: [string, string | null, string], params: string, keyword: string) {
  for (const body of printBoth(...given)) {
    const sent = await collectSent(pair.upstream, () => pair.proxy.post(body));
    expect(sent).toEqual([printExecuteKw({ method: given[0], params, keyword })]);
  }
}

async function expectRefused(given: [string, string | null, string], path: string, says: RegExp) {
  for (const body of printBoth(...given)) {
    const before = pair.upstream.connections();
    const answer = await pair.proxy.post(body);
    expectError(answer, { status: 400, code: -32602, type: 'invalid_params', id: 1, path, says });
    expect(pair.upstream.connections()).toBe(before);
  }
}

describe('read', () => {
  test.each([
    ['[[1,2,3]]', 2, '[[1,2]]'],
    ['[[1,2,3]]', 1, '[[1]]'],
    ['[[1,2,3]]', 3, '[[1,2,3]]'],
    ['[[1,2,3]]', 4, '[[1,2,3]]'],
    ['[ [ 1 , 2 ,\n3 ] , ["name"] ]', 2, '[ [ 1 , 2] , ["name"] ]'],
    ['[[1.0,"x",{"a":[1]},4], ["name"]]', 3, '[[1.0,"x",{"a":[1]}], ["name"]]'],
    ['[[]]', 1, '[[]]'],
    ['[7]', 1, '[7]'],
    ['[]', 1, '[]'],
    [null, 1, '[]'],
  ])('of %s with limit %i keeps the first ids: %s', (params, limit, sent) =>
    expectSent(['read', params, `{"limit":${limit}}`], sent, '{}'),
  );

  test.each(['0', 'null', 'false', '0.0', '-0', '0e5'])('is not cut by limit %s, which is removed', (limit) =>
    expectSent(
      ['read', '[[1,2,3]]', `{"fields":["name"],"limit":${limit}}`],
      '[[1,2,3]]',
      '{"fields":["name"]}',
    ),
  );

  test.each([
    ['{"limit":1}', '{}'],
    ['{ "limit" : 1 }', '{ }'],
    ['{"limit":1,"a":1.0}', '{"a":1.0}'],
    ['{"a":1.0,"limit":1}', '{"a":1.0}'],
    ['{"a":1.0, "limit":1, "b":[ ]}', '{"a":1.0, "b":[ ]}'],
    ['{ "a" : 1.0 , "lim\\u0069t" : 1 , "b" : "é" }', '{ "a" : 1.0 , "b" : "é" }'],
    ['{"context":{"limit":5},"limit":1}', '{"context":{"limit":5}}'],
  ])('removes the member from %s and keeps every other byte', async (keyword, kept) => {
    const body = printCall(pair.upstream.url, { params: '[[1,2]]', keyword });
    const [sent = ''] = await collectSent(pair.upstream, () => pair.proxy.post(body));
    const written = sent.slice(
      sent.indexOf('"read",[[1]],') + '"read",[[1]],'.length,
      sent.lastIndexOf(']},"id":1}'),
    );
    expect(written.replace(/^\{ *\}$/, '{}')).toBe(kept.replace(/^\{ *\}$/, '{}'));
  });

  test.each(['"1,2"', '{"a":1}', 'true', 'null'])('refuses a limit for ids in the form %s', (ids) =>
    expectRefused(['read', `[${ids}]`, '{"limit":1}'], 'params[0]', /id or a list of ids/),
  );
});

describe.each(['write', 'unlink', 'copy'])('%s', (method) => {
  test('is refused above the limit, before anything is sent', async () => {
    await expectRefused([method, '[[1,2,3],{}]', '{"limit":2}'], 'keyword.limit', /more ids than .*\(2\)/);
    await expectRefused([method, '[[1,2]]', '{"limit":1.0}'], 'keyword.limit', /more ids than .*\(1\)/);
  });

  test('is sent up to the limit, without the member', async () => {
    await expectSent([method, '[[1,2],{}]', '{"limit":2,"a":1}'], '[[1,2],{}]', '{"a":1}');
    await expectSent([method, '[7,{}]', '{"limit":1}'], '[7,{}]', '{}');
  });

  test.each(['0', 'null', 'false'])('is not bounded by limit %s, which is removed', (limit) =>
    expectSent([method, '[[1,2,3],{}]', `{"limit":${limit}}`], '[[1,2,3],{}]', '{}'),
  );

  test.each(['"12"', '{"1":1,"2":2}', 'true'])('refuses a limit for ids in the form %s', (ids) =>
    expectRefused([method, `[${ids}]`, '{"limit":5}'], 'params[0]', /id or a list of ids/),
  );
});

describe('create', () => {
  test('of more rows than the limit is refused, before anything is sent', () =>
    expectRefused(['create', '[[{},{}]]', '{"limit":1}'], 'keyword.limit', /more rows than .*\(1\)/));

  test('is sent up to the limit, without the member', () =>
    expectSent(['create', '[[{"a":1.0},{}]]', '{"limit":2}'], '[[{"a":1.0},{}]]', '{}'));

  test('of one row in an object counts as one', () =>
    expectSent(['create', '[{"a":1,"b":2,"c":3}]', '{"limit":1}'], '[{"a":1,"b":2,"c":3}]', '{}'));

  test.each(['"text"', 'true', 'null'])('refuses a limit for values in the form %s', (values) =>
    expectRefused(['create', `[${values}]`, '{"limit":5}'], 'params[0]', /values of a record/),
  );
});

describe.each(['search_read', 'search', 'name_search', 'web_search_read', 'action_confirm', 'my_method'])(
  '%s',
  (method) => {
    test.each(['2', '2.0', '0', 'null', 'false', '1e1'])('gets limit %s unchanged', (limit) =>
      expectSent([method, '[[]]', `{"limit": ${limit} }`], '[[]]', `{"limit": ${limit} }`),
    );
  },
);

describe.each(['read', 'write', 'create', 'search_read', 'any_method'])('%s refuses', (method) => {
  test.each(['-1', '1.5', '"2"', '""', 'true', '[]', '{}', '[2]', '-0.5', '1e-1', '1e400'])(
    'limit %s',
    (limit) =>
      expectRefused([method, '[[1]]', `{"limit":${limit}}`], 'keyword.limit', /non-negative integer/),
  );
});

test('treats 2.0 as the integer 2', () =>
  expectSent(['read', '[[1,2,3]]', '{"limit":2.0}'], '[[1,2]]', '{}'));

test('does not cut for a limit beyond 2^53', () =>
  expectSent(['read', '[[1,2,3]]', '{"limit":18446744073709551616}'], '[[1,2,3]]', '{}'));
