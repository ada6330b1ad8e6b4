/** docs/execute.md#context: which members of `keyword.context` are checked, and what is sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { collectSent, expectError, printCall, printExecuteKw } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const print = (context: string) => printCall(pair.upstream.url, { keyword: `{"context":${context}}` });

test.each([
  'null',
  'false',
  '{}',
  '[]',
  '{"lang":"fr_FR"}',
  '{ "any" : [1.0, {"a":null}] }',
  '{"allowed_company_ids":[1,2]}',
  '{"allowed_company_ids":[]}',
  '{"allowed_company_ids":null}',
  '{"allowed_company_ids":false}',
  '{"default_company_id":3}',
  '{"tz":"Europe/Paris"}',
  '{"tz":"America/Argentina/Buenos_Aires"}',
  '{"tz":"UTC"}',
  '{"tz":"Etc/GMT+5"}',
  '{"t\\u007a":"Europe\\/Paris"}',
  '{"tz":null}',
  '{"tz":false}',
  '{"lang":"xx","tz":"Asia/Tokyo","allowed_company_ids":[7],"default_company_id":7,"default_name":"é"}',
])('sends %s unchanged', async (context) => {
  const sent = await collectSent(pair.upstream, () => pair.proxy.post(print(context)));
  expect(sent).toEqual([printExecuteKw({ keyword: `{"context":${context}}` })]);
});

// Odoo would take these values as the default company, and create records without a company.
test.each([
  ['{"default_company_id":null}', '{}'],
  ['{"default_company_id":false}', '{}'],
  ['{"lang":null, "default_company_id": false, "active_test":false}', '{"lang":null, "active_test":false}'],
  ['{ "default_\\u0063ompany_id":null,"x":1.0}', '{ "x":1.0}'],
  ['{"default_company_id":null,"default_name":false}', '{"default_name":false}'],
])('sends %s as %s', async (context, expected) => {
  const sent = await collectSent(pair.upstream, () => pair.proxy.post(print(context)));
  expect(sent).toEqual([printExecuteKw({ keyword: `{"context":${expected}}` })]);
});

test('a left-out company beside a limit and ids by name', async () => {
  const keyword =
    '{"limit":1,"context":{"default_company_id":false,"lang":"x"},"ids":[1,2],"fields":["name"]}';
  const call = printCall(pair.upstream.url, { params: '[]', keyword });
  const sent = await collectSent(pair.upstream, () => pair.proxy.post(call));
  expect(sent).toEqual([
    printExecuteKw({ params: '[[1]]', keyword: '{"context":{"lang":"x"},"fields":["name"]}' }),
  ]);
});

test.each([
  ['"x"', ''],
  ['1', ''],
  ['0', ''],
  ['true', ''],
  ['[1]', ''],
  ['{"allowed_company_ids":1}', '.allowed_company_ids'],
  ['{"allowed_company_ids":"1"}', '.allowed_company_ids'],
  ['{"allowed_company_ids":{}}', '.allowed_company_ids'],
  ['{"allowed_company_ids":true}', '.allowed_company_ids'],
  ['{"allowed_company_ids":["1"]}', '.allowed_company_ids'],
  ['{"allowed_company_ids":[1,null]}', '.allowed_company_ids'],
  ['{"allowed_company_ids":[1.5]}', '.allowed_company_ids'],
  ['{"allowed_company_ids":[[1]]}', '.allowed_company_ids'],
  ['{"allowed_company_ids":[true]}', '.allowed_company_ids'],
  ['{"default_company_id":"1"}', '.default_company_id'],
  ['{"default_company_id":1.5}', '.default_company_id'],
  ['{"default_company_id":[1]}', '.default_company_id'],
  ['{"default_company_id":true}', '.default_company_id'],
  ['{"tz":"Europe/Pariss"}', '.tz'],
  ['{"tz":"Mars/Base"}', '.tz'],
  ['{"tz":""}', '.tz'],
  ['{"tz":" UTC"}', '.tz'],
  ['{"tz":"+02:00"}', '.tz'],
  ['{"tz":"../../etc/passwd"}', '.tz'],
  ['{"tz":1}', '.tz'],
  ['{"tz":true}', '.tz'],
  ['{"tz":["UTC"]}', '.tz'],
  ['{"\\u0074z":"Nowhere"}', '.tz'],
])('refuses %s', async (context, member) => {
  const before = pair.upstream.connections();
  const answer = await pair.proxy.post(print(context));
  expectError(answer, {
    status: 400,
    code: -32602,
    type: 'invalid_params',
    id: 1,
    path: `keyword.context${member}`,
    says: /must be/,
  });
  expect(pair.upstream.connections()).toBe(before);
});

test('is checked for every method, with call_method too', async () => {
  for (const call of [{ action: '"unlink"' }, { action: '"call_method"', fn_name: '"my_method"' }]) {
    const answer = await pair.proxy.post(
      printCall(pair.upstream.url, { ...call, keyword: '{"context":{"tz":"Nowhere"}}' }),
    );
    expect(answer.status).toBe(400);
  }
});
