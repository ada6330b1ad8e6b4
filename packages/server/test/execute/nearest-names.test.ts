/** docs/errors.md#nearest-names: errors about unknown fields, models and methods have similar names that exist. */
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';

type Policy = NonNullable<Parameters<RunningProxy['app']['keys']['create']>[0]['policy']>;

/** Places in a call where a name can be, with `nmae` for `name`. */
const PLACES: Record<string, Record<string, unknown>> = {
  'fields of read': { params: [[9], ['nmae']] },
  'fields of search_read': { action: 'search_read', params: [[]], keyword: { fields: ['nmae'], limit: 1 } },
  'a domain': { action: 'search', params: [[['nmae', '=', 'x']]] },
  'an order': { action: 'search', params: [[]], keyword: { order: 'nmae' } },
  'a grouping': { action: 'read_group', params: [[], ['nmae'], ['nmae']] },
  'values of create': { action: 'create', params: [{ name: 'x', nmae: 'y' }] },
  'values of write': { action: 'write', params: [[9], { nmae: 'y' }] },
};
const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19];

let sandboxes: Map<string, Sandbox>;
beforeAll(async () => {
  const started = await Promise.all([...VERSIONS, 22 as const].map((version) => startSandbox({ version })));
  sandboxes = new Map(started.map((sandbox) => [String(sandbox.version), sandbox]));
});
afterAll(() => Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close())));

async function openProxy(options: ProxyOptions = {}) {
  const allow = [...sandboxes.values()].map(({ url }) => url);
  return closeAfterTest(await startProxy({ ...options, allow }));
}

function makeBody(version: string, changes: Record<string, unknown>) {
  const { url, db, users } = sandboxes.get(version)!;
  const { userId, apiKey } = users.admin;
  return makeCall(url, { ...changes, erp_instance: { url, db, user_id: userId, api_key: apiKey } });
}

async function createKey({ app }: RunningProxy, changes: Partial<Policy>) {
  const policy = { origins: ['*'], models: { 'res.partner': ['*'] }, ...changes };
  return { 'x-proxy-api': (await app.keys.create({ name: 'app', policy })).key };
}

describe.each([
  ...VERSIONS.map((version) => [String(version), 'jsonrpc']),
  ['19', 'json2'],
  ['22', 'json2'],
] as [string, string][])('in Odoo %s over %s', (version, protocol) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    const allow = [...sandboxes.values()].map(({ url }) => url);
    proxy = await startProxy({ allow, settings: { 'upstream.protocol': protocol } });
  });
  afterAll(() => proxy.close());

  test.each(Object.entries(PLACES))('a wrong name in %s gets the right one first', async (_, changes) => {
    const { json } = await proxy.call(makeBody(version, changes));
    expect(json.error.data).toMatchObject({ type: 'query_invalid', nearest: ['name'] });
  });

  test('a path in a domain gets names of the model that it leads to', async () => {
    const body = makeBody(version, { action: 'search', params: [[['country_id.cdoe', '=', 'FR']]] });
    const { nearest } = (await proxy.call(body)).json.error.data;
    expect(nearest).toEqual(['code']);
  });

  test('a wrong model gets the right one first', async () => {
    const { json } = await proxy.call(makeBody(version, { model_id: 'res.parnter' }));
    expect(json.error.data.type).toBe('model_not_found');
    expect(json.error.data.nearest[0]).toBe('res.partner');
    for (const name of json.error.data.nearest) expect(name).toContain('partner');
  });

  test.each([
    ['raed', ['read']],
    ['update', ['write']],
    ['mesage_post', ['message_post']],
    ['zzzzzz', undefined],
  ])('the unknown method %s gets %s', async (action, nearest) => {
    const { json } = await proxy.call(makeBody(version, { action, params: [[9]] }));
    expect(json.error.data.type).toBe('method_not_found');
    const near = json.error.data.nearest;
    expect(near?.slice(0, 1)).toEqual(nearest);
  });

  test('names to which nothing is similar get an empty list', async () => {
    const field = await proxy.call(makeBody(version, { params: [[9], ['zebra_rank']] }));
    expect(field.json.error.data).toMatchObject({ type: 'query_invalid', nearest: [] });
    const model = await proxy.call(makeBody(version, { model_id: 'account.move' }));
    expect(model.json.error.data).toMatchObject({ type: 'model_not_found', nearest: [] });
  });
});

test('each call of a batch gets its own names, and the right ones stay results', async () => {
  const proxy = await openProxy();
  const wrong = makeBody('18', { params: [[9], ['nmae']] });
  const model = makeBody('18', { model_id: 'res.parnter' });
  const { json } = await proxy.call([wrong, makeBody('18', { params: [[9], ['name']] }), model, wrong]);
  const names = json.map(
    (answer: { error?: { data: { nearest: string[] } } }) => answer.error?.data.nearest[0],
  );
  expect(names).toEqual(['name', undefined, 'res.partner', 'name']);
});

test('a create with normalized values of a wrong model gets the right one first', async () => {
  const proxy = await openProxy();
  const body = makeBody('18', { action: 'create', model_id: 'res.parnter', params: [{ name: 'x' }] });
  const { json } = await proxy.call(body, { prefer: 'values=normalized' });
  expect(json.error.data.nearest[0]).toBe('res.partner');
});

test.each(['admin', 'demo'] as const)(
  '%s gets the fields that the groups of the user allow',
  async (user) => {
    const proxy = await openProxy();
    const { url, db, users } = sandboxes.get('18')!;
    const { userId, apiKey } = users[user];
    const erp_instance = { url, db, user_id: userId, api_key: apiKey };
    const { json } = await proxy.call(makeCall(url, { params: [[9], ['signup_tpye']], erp_instance }));
    expect(json.error.data.nearest[0] === 'signup_type').toBe(user === 'admin');
    expect(json.error.data.nearest.includes('signup_type')).toBe(user === 'admin');
  },
);

describe('a key with a policy', () => {
  test('gets only models that it names', async () => {
    const proxy = await openProxy();
    const headers = await createKey(proxy, { models: { 'res.country': ['read'], 'res.p*': ['read'] } });
    const { json } = await proxy.call(makeBody('18', { model_id: 'res.parnter' }), headers);
    expect(json.error.data.nearest[0]).toBe('res.partner');
    for (const name of json.error.data.nearest) expect(name).toMatch(/^res\.(country$|p)/);
  });

  test('gets only methods that it names, and Odoo is not asked for them', async () => {
    const proxy = await openProxy();
    const headers = await createKey(proxy, { models: { 'res.partner': ['read', 'raed', 'serach'] } });
    const { requests } = sandboxes.get('18')!;
    const before = requests.total;
    const read = await proxy.call(makeBody('18', { action: 'raed', params: [[9]] }), headers);
    expect(read.json.error.data.nearest).toEqual(['read']);
    const search = await proxy.call(makeBody('18', { action: 'serach', params: [[]] }), headers);
    expect(search.json.error.data).not.toHaveProperty('nearest');
    expect(requests.total - before).toBe(2);
  });

  test('gets no fields of a model that it does not name, and Odoo is not asked for them', async () => {
    const proxy = await openProxy();
    const body = makeBody('18', { action: 'search', params: [[['country_id.cdoe', '=', 5]]] });
    const { requests } = sandboxes.get('18')!;
    const before = requests.total;
    const described = requests.calls['res.country.fields_get'] ?? 0;
    const { json } = await proxy.call(body, await createKey(proxy, {}));
    // The path leads into a model that the key may not read.
    expect(json.error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
    expect(json.error.data).not.toHaveProperty('nearest');
    // Odoo is only asked for the fields of the call's own model, which determine where the path leads.
    expect(requests.total - before).toBe(1);
    expect(requests.calls['res.country.fields_get'] ?? 0).toBe(described);
    const both = await createKey(proxy, { models: { 'res.partner': ['*'], 'res.country': ['read'] } });
    expect((await proxy.call(body, both)).json.error.data.nearest[0]).toBe('code');
  });

  test.each([
    ['contry_id.name', 'country_id'],
    ['parent_id.contry_id.name', 'country_id'],
    ['parent_id.nmae', 'name'],
    ['country_id.cdoe', 'code'],
  ])('gets the right name first for a wrong one in the path %s', async (path, right) => {
    const proxy = await openProxy();
    const body = makeBody('18', { action: 'search', params: [[[path, '=', 'x']]] });
    for (const models of [{ '*': ['*'] }, { 'res.*': ['*'] }]) {
      const { json } = await proxy.call(body, await createKey(proxy, { models }));
      expect(json.error.data).toMatchObject({ type: 'query_invalid' });
      expect(json.error.data.nearest[0]).toBe(right);
    }
  });

  test('gets no names of another key that shares its read', async () => {
    const proxy = await openProxy();
    const body = makeBody('18', { action: 'search', params: [[['country_id.cdoe', '=', 'FR']]] });
    const narrow = await createKey(proxy, {});
    const [all, none] = await Promise.all([proxy.call(body), proxy.call(body, narrow)]);
    expect(all.json.error.data.nearest[0]).toBe('code');
    expect(none.json.error.data).not.toHaveProperty('nearest');
  });
});

test('a key whose policy changes while Odoo is asked gets no names by the former one', async () => {
  const policy = { origins: ['*'], models: { 'res.*': ['read'] } };
  let narrow = async () => {};
  const pair = closeAfterTest(
    await startPair(async (socket, { body }) => {
      const isQuestion = body.includes('"ir.model"');
      if (isQuestion) await narrow();
      answerLikeOdoo(socket, isQuestion ? printResult('[{"id": 1, "model": "res.partner"}]') : UNKNOWN_MODEL);
    }),
  );
  const { keys } = pair.proxy.app;
  const { key, record } = await keys.create({ name: 'app', policy });
  const body = makeCall(pair.upstream.url, { model_id: 'res.parnter' });
  const ask = async () => (await pair.proxy.call(body, { 'x-proxy-api': key })).json.error.data;
  narrow = async () => {
    await keys.update(record.id, 1, { policy: { ...policy, models: { 'res.parnter': ['read'] } } });
  };
  const asked = await ask();
  expect(asked).toMatchObject({ type: 'model_not_found' });
  expect(asked.nearest).toEqual([]);
  await keys.update(record.id, 2, { policy });
  expect((await ask()).nearest).toEqual(['res.partner']);
});

const UNKNOWN_FIELD = printFault('builtins.ValueError', "Invalid field 'nmae' on model 'res.partner'");
const UNKNOWN_MODEL = printFault('odoo.exceptions.UserError', "Object res.parnter doesn't exist");
const FIELDS = printResult('{"name": {"type": "char"}, "email": {"type": "char"}}');

function printFault(name: string, message: string): string {
  const data = { name, debug: '', message, arguments: [message], context: {} };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 200, message: 'Odoo Server Error', data } });
}

/**
 * Starts an upstream that answers the call with `fault`, and a question for names with `answer`. Null: it does not
 * answer.
 */
async function openScripted(
  fault: string,
  answer: (asked: number) => string | null,
  options: ProxyOptions = {},
) {
  let asked = 0;
  const pair = closeAfterTest(
    await startPair((socket, { body }) => {
      const isQuestion = body.includes('"fields_get"') || body.includes('"ir.model"');
      const text = isQuestion ? answer(++asked) : fault;
      if (text === null) return;
      if (text === '') socket.destroy();
      else answerLikeOdoo(socket, text);
    }, options),
  );
  return { ...pair, countAsked: () => asked, post: () => pair.proxy.post(makeCall(pair.upstream.url)) };
}

describe('the question for the names', () => {
  test.each([
    ['is refused', printFault('odoo.exceptions.AccessError', 'You are not allowed to access it')],
    ['fails in Odoo', printFault('builtins.RuntimeError', 'x')],
    ['finds none', printResult('{}')],
    ['gets something else', printResult('true')],
    ['gets no JSON', 'oops'],
    ['loses its connection', ''],
  ])('leaves the error as it is if it %s, and is not repeated', async (_, answer) => {
    for (const fault of [UNKNOWN_FIELD, UNKNOWN_MODEL]) {
      const settings = { 'upstream.retries': '0' };
      const { post, countAsked } = await openScripted(fault, () => answer, { settings });
      const { body, status } = await post();
      const { name, message, arguments: args, context } = JSON.parse(fault).error.data;
      const isField = fault === UNKNOWN_FIELD;
      expect(status).toBe(200);
      expect(JSON.parse(body.toString()).error.data).toEqual({
        type: isField ? 'query_invalid' : 'model_not_found',
        retryable: false,
        name,
        message,
        arguments: args,
        context,
        status: isField ? 422 : 404,
      });
      expect((await post()).body.toString()).toBe(body.toString());
      expect(countAsked()).toBe(1);
    }
  });

  test('does not delay the error beyond half of the time that is left', async () => {
    const { proxy, upstream } = await openScripted(UNKNOWN_FIELD, () => null);
    const { json, status } = await proxy.call(makeCall(upstream.url), { 'x-request-timeout': '1' });
    expect([status, json.error.data.type]).toEqual([200, 'query_invalid']);
    expect(json.error.data).not.toHaveProperty('nearest');
  });

  test('is asked once by callers that repeat the mistake, with any name', async () => {
    let count = 0;
    const pair = closeAfterTest(
      await startPair((socket, { body }) => {
        const name = /x_\d+/.exec(body.toString())?.[0];
        if (name === undefined) count++;
        answerLikeOdoo(socket, name === undefined ? FIELDS : UNKNOWN_FIELD.replace('nmae', name));
      }),
    );
    const post = async (number: number) =>
      (await pair.proxy.call(makeCall(pair.upstream.url, { params: [[1], [`x_${number}`]] }))).json.error
        .data;
    const together = await Promise.all(Array.from({ length: 20 }, (_, number) => post(number)));
    for (let number = 20; number < 30; number++) together.push(await post(number));
    for (const { nearest } of together) expect(nearest).toEqual([]);
    expect(count).toBe(1);
  });

  test('waits for a permit of the database, which the call no longer holds', async () => {
    const settings = { 'upstream.concurrency': '1', 'upstream.concurrencyMin': '1' };
    const { post } = await openScripted(UNKNOWN_FIELD, () => FIELDS, { settings });
    expect(JSON.parse((await post()).body.toString()).error.data.nearest).toEqual(['name']);
  });

  test('is not asked for a field that exists, for which Odoo has another reason', async () => {
    const { post } = await openScripted(UNKNOWN_FIELD, () => printResult('{"nmae": {"type": "char"}}'));
    expect(JSON.parse((await post()).body.toString()).error.data).not.toHaveProperty('nearest');
  });

  test('finds the nearest of thousands of names, and leaves out those that are too long', async () => {
    const names = [
      ...Array.from({ length: 2500 }, (_, index) => `x_studio_${index}`),
      'name',
      'nmae_',
      'n'.repeat(65),
    ];
    const types = Object.fromEntries(names.map((name) => [name, { type: 'char' }]));
    const { post } = await openScripted(UNKNOWN_FIELD, () => printResult(JSON.stringify(types)));
    const { nearest } = JSON.parse((await post()).body.toString()).error.data;
    expect(nearest).toEqual(['nmae_', 'name']);
  });
});
