/** Tests that `keyword.ids` names the records on every version, whatever protocol carries the call. */
import type { Policy } from '@erp-proxy/contract';
import type { Version } from '@erp-proxy/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { readInFlight } from '../read-in-flight.ts';
import { passTurns } from '../time.ts';
import { openGateway, type Passing } from './gateway.ts';
import type { Operation } from './operations.ts';
import { describeOutcome, openProxy, openSandbox, printOperation } from './stage.ts';

const VERSIONS: readonly Version[] = [16, 17, 18, 19, 22];

/** The same call with its records by name and by position. */
const PAIRS: readonly [
  name: string,
  model: string,
  action: string,
  byName: [string, string],
  byPosition: [string, string],
][] = [
  [
    'read',
    'res.partner',
    'read',
    ['[]', '{"ids":[3,1],"fields":["name"]}'],
    ['[[3,1]]', '{"fields":["name"]}'],
  ],
  [
    'read of one id',
    'res.partner',
    'read',
    ['null', '{"fields":["name"],"ids":3}'],
    ['[3]', '{"fields":["name"]}'],
  ],
  [
    'read within a limit',
    'res.partner',
    'read',
    ['[]', '{"ids":[3,1,9],"limit":2,"fields":["name"]}'],
    ['[[3,1]]', '{"fields":["name"]}'],
  ],
  [
    'read in a context',
    'res.partner',
    'read',
    ['[]', '{"ids":[3],"fields":["name"],"context":{"lang":"en_US"}}'],
    ['[[3]]', '{"fields":["name"],"context":{"lang":"en_US"}}'],
  ],
  [
    'read of no record',
    'res.partner',
    'read',
    ['[]', '{"ids":[],"fields":["name"]}'],
    ['[[]]', '{"fields":["name"]}'],
  ],
  [
    'an unknown field',
    'res.partner',
    'read',
    ['[]', '{"ids":[3],"fields":["nope"]}'],
    ['[[3]]', '{"fields":["nope"]}'],
  ],
  [
    'write',
    'res.partner',
    'write',
    ['[]', '{"ids":[21],"vals":{"name":"W"}}'],
    ['[[21]]', '{"vals":{"name":"W"}}'],
  ],
  ['unlink', 'res.partner', 'unlink', ['[]', '{"ids":[21]}'], ['[[21]]', '{}']],
  ['a button', 'sale.order', 'action_confirm', ['[]', '{"ids":[1]}'], ['[[1]]', '{}']],
  [
    'message_post',
    'res.partner',
    'message_post',
    ['[]', '{"ids":[3],"body":"Hello"}'],
    ['[[3]]', '{"body":"Hello"}'],
  ],
  [
    'an escaped name',
    'res.partner',
    'read',
    ['[]', '{"\\u0069ds":[3],"fields":["name"]}'],
    ['[[3]]', '{"fields":["name"]}'],
  ],
  [
    'null: a method of the model',
    'res.partner',
    'search_count',
    ['[]', '{"ids":null,"domain":[]}'],
    ['[]', '{"domain":[]}'],
  ],
  [
    'null, and positional arguments',
    'res.partner',
    'search_count',
    ['[[["id","<",9]]]', '{"ids":null}'],
    ['[[["id","<",9]]]', '{}'],
  ],
  [
    'null: a method of its own',
    'res.partner',
    'find_or_create',
    ['[]', '{"ids":null,"email":"info@wood.example.com"}'],
    ['[]', '{"email":"info@wood.example.com"}'],
  ],
];

const clock = () => Date.UTC(2026, 11, 1);

describe.each(VERSIONS)('on Odoo %i', async (version) => {
  const sandbox = await openSandbox({ version, clock });
  const proxy = await openProxy([sandbox], 'auto');
  const run = async (operation: Omit<Operation, 'name'>) => {
    sandbox.reset();
    return describeOutcome(await proxy.post(printOperation(sandbox, { name: '', ...operation })));
  };

  test.each(PAIRS)(
    'gives the outcome of records by position: %s',
    async (name, model, action, byName, byPosition) => {
      const [named, placed] = [byName, byPosition].map(([params, keyword]) => ({
        model,
        action,
        params,
        keyword: keyword!,
      }));
      const expected = await run({ ...placed!, params: placed!.params! });
      expect(await run({ ...named!, params: named!.params! })).toEqual(expected);
      if (name !== 'an unknown field') expect(expected).toHaveProperty('body');
    },
  );

  test.each([
    ['records by name and by position', 'read', '[[3]]', '{"ids":[1]}'],
    ['arguments by position beside them', 'write', '[{"name":"W"}]', '{"ids":[21]}'],
    ['a text', 'read', '[]', '{"ids":"3"}'],
    ['an object', 'read', '[]', '{"ids":{"id":3}}'],
    ['a boolean', 'read', '[]', '{"ids":false}'],
    ['a method that takes no records', 'search', '[]', '{"ids":[3],"domain":[]}'],
    ['a method whose first argument they would become', 'fields_get', '[]', '{"ids":[3]}'],
    ['create', 'create', '[]', '{"ids":[3],"vals_list":{"name":"A"}}'],
  ])('refuses %s before anything is sent', async (_, action, params, keyword) => {
    const before = sandbox.requests.calls;
    const seen = JSON.stringify(before);
    const answer = await proxy.call(
      printOperation(sandbox, { name: '', model: 'res.partner', action, params, keyword }),
    );
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatchObject({
      code: -32602,
      data: { type: 'invalid_params', path: 'keyword.ids' },
    });
    expect(JSON.stringify(sandbox.requests.calls)).toBe(seen);
  });

  test('refuses a duplicate member', async () => {
    const twice = {
      name: '',
      model: 'res.partner',
      action: 'read',
      params: '[]',
      keyword: '{"ids":[3],"ids":[1]}',
    };
    expect((await proxy.call(printOperation(sandbox, twice))).json.error).toMatchObject({
      code: -32600,
      data: { path: 'keyword.ids' },
    });
  });

  test('works in a batch', async () => {
    const one = (keyword: string) =>
      printOperation(sandbox, { name: '', model: 'res.partner', action: 'read', params: '[]', keyword });
    const { json } = await proxy.call(
      `[${one('{"ids":[3],"fields":["name"]}')},${one('{"ids":"3"}')},${one('{"ids":[1],"fields":["name"]}')}]`,
    );
    expect(
      json.map(
        ({ result, error }: { result?: { id: number }[]; error: { code: number } }) =>
          result?.[0]?.id ?? error.code,
      ),
    ).toEqual([3, -32602, 1]);
  });
});

describe('the request', async () => {
  const sandbox = await openSandbox({ version: 18 });
  let requests: Passing[] = [];
  afterEach(() => {
    requests = [];
  });
  const send = async (keyword: string, policy: Partial<Policy> | null = null, action = 'read') => {
    const gateway = await openGateway(sandbox, () => null);
    requests = gateway.requests;
    const proxy = await openProxy([gateway], 'jsonrpc');
    const full = policy && { origins: [gateway.url], models: { '*': ['*'] }, ...policy };
    const { key } = await proxy.app.keys.create({ name: 'test', policy: full });
    const operation = { name: '', model: 'res.partner', action, params: '[]', keyword };
    const body = printOperation(sandbox, { ...operation, instance: { url: JSON.stringify(gateway.url) } });
    const { json } = await proxy.call(body, { 'x-proxy-api': key });
    return { json, sent: requests.at(-1)?.body.match(/"res\.partner","\w+",(.*)\]\},"id":1\}$/)?.[1] };
  };

  test.each([
    ['{"ids":[ 3,1.0 ],"fields":["n\\u0061me"]}', '[[ 3,1.0 ]],{"fields":["n\\u0061me"]}'],
    ['{ "fields" : ["name"] , "ids" : 9007199254740993 }', '[9007199254740993],{ "fields" : ["name"] }'],
    ['{"x":1e2,"ids":[3],"context":{"b":1,"a":1.0}}', '[[3]],{"x":1e2,"context":{"b":1,"a":1.0}}'],
  ])('keeps every byte of %s', async (keyword, sent) => {
    expect((await send(keyword)).sent).toBe(sent);
  });

  test('obeys the policy: records above its limit are cut or refused', async () => {
    const limited = { limit_max: 2 };
    expect((await send('{"ids":[3,1,9],"fields":["name"]}', limited)).sent).toBe(
      '[[3,1]],{"fields":["name"]}',
    );
    const refused = await send('{"ids":[3,1,9]}', limited, 'web_read');
    expect(refused.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'limit_max' });
    expect(refused.sent).toBeUndefined();
  });

  test('obeys the companies of the policy', async () => {
    const { sent } = await send('{"ids":[3],"fields":["name"]}', { companies: [1] });
    expect(sent).toBe('[[3]],{"fields":["name"],"context":{"allowed_company_ids":[1]}}');
  });

  test('obeys the limit of the caller: a write of more records is refused', async () => {
    const { json, sent } = await send('{"ids":[21,22],"vals":{"name":"W"},"limit":1}', null, 'write');
    expect(json.error).toMatchObject({ code: -32602, data: { path: 'keyword.limit' } });
    expect(sent).toBeUndefined();
  });

  test('is shared between equal reads by name and by position', async () => {
    const letGo = Promise.withResolvers<void>();
    const gateway = await openGateway(sandbox, async ({ body }) => {
      if (body.includes('"name"')) await letGo.promise;
      return null;
    });
    const proxy = await openProxy([gateway], 'jsonrpc');
    const print = (params: string, keyword: string) =>
      printOperation(sandbox, {
        name: '',
        model: 'res.partner',
        action: 'read',
        params,
        keyword,
        instance: { url: JSON.stringify(gateway.url) },
      });
    await proxy.call(print('[[1],["id"]]', '{}'));
    const before = gateway.requests.length;
    const calls = [
      proxy.call(print('[]', '{"ids":[3],"fields":["name"]}')),
      proxy.call(print('[[3]]', '{"fields":["name"]}')),
    ] as const;
    await expect.poll(() => readInFlight(proxy.url)).toBe(2);
    await passTurns(10);
    letGo.resolve();
    const answers = await Promise.all(calls);
    expect(answers[0].json.result).toEqual(answers[1].json.result);
    expect(gateway.requests.length - before).toBe(1);
  });
});

test('a method with its own parameter `ids` gets it as an argument', async () => {
  const gateway = await openGateway(await openSandbox({ version: 16 }), () => null);
  const proxy = await openProxy([gateway], 'jsonrpc');
  const sandbox = await openSandbox({ version: 16 });
  await proxy.call(
    printOperation(sandbox, {
      name: '',
      model: 'res.partner',
      action: 'browse',
      params: '[[]]',
      keyword: '{"ids":[3]}',
      instance: { url: JSON.stringify(gateway.url) },
    }),
  );
  expect(gateway.requests.at(-1)?.body).toContain('"browse",[[]],{"ids":[3]}');
});
