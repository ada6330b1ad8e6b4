/** docs/execute.md#members: the members of the body, their types and names. A refused call never reaches Odoo. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { collectSent, expectError, printCall, printExecuteKw, printInstance } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const post = (changes: Record<string, string | null>) =>
  pair.proxy.post(printCall(pair.upstream.url, changes));

async function expectRefused(body: string, path: string | undefined, says: RegExp, id: unknown = 1) {
  const before = pair.upstream.connections();
  const answer = await pair.proxy.post(body);
  expectError(answer, {
    status: 400,
    code: -32600,
    type: 'invalid_request',
    id,
    says,
    ...(path === undefined ? {} : { path }),
  });
  expect(pair.upstream.connections()).toBe(before);
}

describe('required members', () => {
  test.each([
    ['action', 'action'],
    ['model_id', 'model_id'],
    ['erp_instance', 'erp_instance'],
  ])('says that %s is missing', (name, path) =>
    expectRefused(printCall(pair.upstream.url, { [name]: null }), path, /is missing/),
  );

  test.each(['url', 'db', 'user_id', 'api_key'])('says that erp_instance.%s is missing', (name) => {
    const path = `erp_instance.${name}`;
    const instance = printInstance(pair.upstream.url, { [name]: null });
    return expectRefused(printCall(pair.upstream.url, { erp_instance: instance }), path, /is missing/);
  });

  test('describes a call if the body is none', async () => {
    for (const body of ['1', '"text"', 'null', 'true', '1.5']) {
      await expectRefused(body, undefined, /must be an object \(one call\) or an array/, null);
    }
  });
});

describe('types', () => {
  const wrong: Record<string, string[]> = {
    action: ['1', 'null', 'true', '{}', '["read"]'],
    model_id: [
      '1',
      'null',
      'false',
      '{}',
      '["res.partner"]',
      '""',
      '"res partner"',
      '"res-partner"',
      '"a/b"',
      '"é"',
      '"res.partner\\n"',
    ],
    params: ['1', '"[[1]]"', '{}', 'true', 'false', '0'],
    keyword: ['1', '"{}"', '[1]', '[{}]', 'true', 'false', '0'],
    erp_instance: ['1', '"x"', '[]', 'true', 'false', 'null'],
    fn_name: ['1', 'true', 'false', '{}', '[]'],
  };
  test.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'refuses %s: %s',
    (name, value) => expectRefused(printCall(pair.upstream.url, { [name]: value }), name, /`/),
  );

  const wrongInstance: Record<string, string[]> = {
    url: ['1', 'null', '""', '{}'],
    db: [
      '1',
      'null',
      '""',
      'false',
      '"a b"',
      '"postgres://x/y"',
      '"é"',
      `"${'d'.repeat(64)}"`,
      '"-x"',
      '"a\\r\\nx-evil: 1"',
    ],
    user_id: ['"2"', 'null', '0', '-1', '1.5', 'true', '[2]', '2147483648', '1e400'],
    api_key: ['1', 'null', '""', 'false', '["k"]'],
    name: ['1', 'null', '""'],
  };
  test.each(
    Object.entries(wrongInstance).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  )('refuses erp_instance.%s: %s', (name, value) =>
    expectRefused(
      printCall(pair.upstream.url, { erp_instance: printInstance(pair.upstream.url, { [name]: value }) }),
      `erp_instance.${name}`,
      /`/,
    ),
  );

  test('knows no stored instances yet, and says what to send', () =>
    expectRefused(
      printCall(pair.upstream.url, { erp_instance: '{"name":"main"}' }),
      'erp_instance.name',
      /"url", "db"/,
    ));

  test('refuses a name together with an address', () =>
    expectRefused(
      printCall(pair.upstream.url, { erp_instance: printInstance(pair.upstream.url, { name: '"main"' }) }),
      'erp_instance',
      /not both/,
    ));

  test('says that user_id is not a string', () =>
    expectRefused(
      printCall(pair.upstream.url, { erp_instance: printInstance(pair.upstream.url, { user_id: '"2"' }) }),
      'erp_instance.user_id',
      /a positive integer such as 2, not a string\.$/,
    ));

  test.each(['2.0', '2e0', '20e-1'])('takes user_id %s as 2', async (spelling) => {
    const instance = printInstance(pair.upstream.url, { user_id: spelling });
    const sent = await collectSent(pair.upstream, () => post({ erp_instance: instance }));
    expect(sent).toEqual([printExecuteKw({})]);
  });
});

describe('optional members', () => {
  test.each([
    [{ params: null }, '[]', '{}'],
    [{ params: 'null' }, '[]', '{}'],
    [{ params: '[]' }, '[]', '{}'],
    [{ keyword: null }, '[[1]]', '{}'],
    [{ keyword: 'null' }, '[[1]]', '{}'],
    [{ keyword: '[]' }, '[[1]]', '{}'],
    [{ keyword: '[ \t\n]' }, '[[1]]', '{}'],
    [{ keyword: '{}' }, '[[1]]', '{}'],
    [{ keyword: '{ "a" : 1.0 }' }, '[[1]]', '{ "a" : 1.0 }'],
    [{ params: '[ [1 ,2], "x" ]' }, '[ [1 ,2], "x" ]', '{}'],
  ])('sends %j in the form that Odoo needs', async (changes, params, keyword) => {
    const sent = await collectSent(pair.upstream, () => post(changes));
    expect(sent).toEqual([printExecuteKw({ params, keyword })]);
  });

  test('ignores jsonrpc, whatever its value, and does not send it', async () => {
    for (const jsonrpc of ['"2.0"', '2', 'null', '{"a":[1]}']) {
      const sent = await collectSent(pair.upstream, () => post({ jsonrpc }));
      expect(sent).toEqual([printExecuteKw({})]);
    }
  });
});

describe('names', () => {
  test.each(['jsonrcp', 'user', '__proto__', 'constructor', 'toString'])(
    'refuses the unknown member %s and lists the known ones',
    (name) =>
      expectRefused(
        printCall(pair.upstream.url, { [name]: '1' }),
        name,
        /Its members are `id`, `action`, `model_id`, `fn_name`, `params`, `keyword`, `erp_instance`\.$/,
      ),
  );

  test.each([
    ['keywords', 'keyword'],
    ['param', 'params'],
    ['model', 'model_id'],
    ['fnname', 'fn_name'],
    ['Action', 'action'],
    ['ID', 'id'],
    ['Keyword', 'keyword'],
    ['method', 'action'],
    ['erp_instanc', 'erp_instance'],
    ['kwargs', 'keyword'],
    ['domain', 'params'],
    ['fields', 'keyword.fields'],
    ['limit', 'keyword.limit'],
    ['context', 'keyword.context'],
    ['url', 'erp_instance.url'],
    ['api_key', 'erp_instance.api_key'],
    ['db', 'erp_instance.db'],
  ])('suggests for %s the name %s', async (name, nearest) => {
    const answer = await pair.proxy.call(printCall(pair.upstream.url, { [name]: '1' }));
    expect(answer.json.error.message).toContain(`Did you mean \`${nearest}\``);
  });

  test.each([
    ['ulr', 'url'],
    ['dbs', 'db'],
    ['apikey', 'api_key'],
    ['userid', 'user_id'],
    ['Name', 'name'],
    ['uid', 'user_id'],
    ['login', 'user_id'],
    ['password', 'api_key'],
    ['database', 'db'],
  ])('suggests for erp_instance.%s the name %s', (name, nearest) => {
    const instance = printInstance(pair.upstream.url, { [name]: '1' });
    const says = new RegExp(`Did you mean \`${nearest}\``);
    return expectRefused(
      printCall(pair.upstream.url, { erp_instance: instance }),
      `erp_instance.${name}`,
      says,
    );
  });

  test('truncates a very long name in its answer', async () => {
    const answer = await pair.proxy.call(printCall(pair.upstream.url, { ['n'.repeat(100_000)]: '1' }));
    expect(answer.json.error.data.path).toBe(`${'n'.repeat(64)}…`);
    expect(answer.body.length).toBeLessThan(1000);
  });
});

describe('a duplicate member', () => {
  const insert = (body: string, text: string) => `{${text},${body.slice(1)}`;
  const escapeFirst = (name: string) =>
    `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
  const top: Record<string, string> = {
    action: '"unlink"',
    model_id: '"res.users"',
    params: '[[2]]',
    keyword: '{}',
    erp_instance: '{"name":"x"}',
    fn_name: 'null',
    jsonrpc: '"2.0"',
  };
  test.each(Object.keys(top))('is refused at the top: %s', async (name) => {
    const body = printCall(pair.upstream.url, { keyword: '{}', fn_name: 'null', jsonrpc: '"2.0"' });
    await expectRefused(insert(body, `"${name}":${top[name]}`), name, /twice/);
    await expectRefused(insert(body, `"${escapeFirst(name)}":${top[name]}`), name, /twice/);
  });

  test('is refused for id, which is then null', async () => {
    const body = printCall(pair.upstream.url);
    await expectRefused(insert(body, '"id":2'), 'id', /twice/, null);
    await expectRefused(insert(body, '"\\u0069d":1'), 'id', /twice/, null);
  });

  test.each(['url', 'db', 'user_id', 'api_key'])('is refused in erp_instance: %s', async (name) => {
    const instance = printInstance(pair.upstream.url);
    for (const written of [name, escapeFirst(name)]) {
      const twice = insert(instance, `"${written}":"x"`);
      await expectRefused(
        printCall(pair.upstream.url, { erp_instance: twice }),
        `erp_instance.${name}`,
        /twice/,
      );
    }
  });

  test.each(['fields', 'limit', 'context', 'any'])('is refused in keyword: %s', async (name) => {
    for (const written of [name, escapeFirst(name)]) {
      const keyword = `{"${name}":null,"${written}":null}`;
      await expectRefused(printCall(pair.upstream.url, { keyword }), `keyword.${name}`, /twice/);
    }
  });

  test.each(['tz', 'lang', 'allowed_company_ids'])('is refused in context: %s', async (name) => {
    for (const written of [name, escapeFirst(name)]) {
      const keyword = `{"context":{"${name}":null,"${written}":null}}`;
      await expectRefused(printCall(pair.upstream.url, { keyword }), `keyword.context.${name}`, /twice/);
    }
  });

  test('is not searched inside values, which are passed on unchanged', async () => {
    const params = '[[1],{"a":1,"a":2}]';
    const keyword = '{"x":{"a":1,"a":2},"context":{"y":{"b":1,"b":1}}}';
    const sent = await collectSent(pair.upstream, () => post({ action: '"write"', params, keyword }));
    expect(sent).toEqual([printExecuteKw({ method: 'write', params, keyword })]);
  });
});
