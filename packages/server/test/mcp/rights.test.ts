/** Tests that a tool can do nothing that the policy of the key does not allow. */
import type { Policy } from '@erp-proxy/contract';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { AUDIENCE, describeIssuer, makeClaims, makeKey, signToken, startIssuer } from '../tokens/issuer.ts';
import { addInstance, startStage } from './stage.ts';

const READING = [
  'get_context',
  'list_models',
  'describe_model',
  'search_records',
  'read_records',
  'count_records',
  'aggregate_records',
];
/** Tools that a policy must allow in `data`. */
const MOVING = ['list_changes', 'read_file', 'get_document'];
const WRITING = ['create_record', 'update_records', 'delete_records', 'call_method'];

const listNames = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test('lists all tools in a fixed order for a key without a policy, in both revisions', async () => {
  const { connect } = await startStage();
  const modern = await connect();
  const legacy = await connect({ mode: 'legacy' });
  expect(await listNames(modern)).toEqual([...READING, ...MOVING, ...WRITING]);
  expect(await listNames(legacy)).toEqual([...READING, ...MOVING, ...WRITING]);
  expect(await listNames(modern)).toEqual([...READING, ...MOVING, ...WRITING]);
});

test.each([
  ['read only', { 'res.partner': ['*'] }, true, READING],
  [
    'reads without fields_get',
    { 'res.partner': ['read', 'search*'] },
    false,
    ['get_context', 'list_models', 'search_records', 'read_records', 'count_records'],
  ],
  [
    'drafts',
    { 'sale.order': ['read', 'search*', 'fields_get', 'create', 'write'] },
    false,
    [
      'get_context',
      'list_models',
      'describe_model',
      'search_records',
      'read_records',
      'count_records',
      'create_record',
      'update_records',
    ],
  ],
  ['one button', { 'sale.order': ['action_confirm'] }, false, ['get_context', 'list_models', 'call_method']],
] as [string, Record<string, string[]>, boolean, string[]][])(
  'lists only tools that a policy allows: %s',
  async (_name, models, readOnly, expected) => {
    const { connect, createKey } = await startStage();
    const key = await createKey({ instances: ['prod'], models, read_only: readOnly });
    const client = await connect({ key });
    expect(await listNames(client)).toEqual(expected);
    for (const name of WRITING.filter((tool) => !expected.includes(tool))) {
      const called = client.callTool({ name, arguments: { model: 'res.partner', ids: [1], values: {} } });
      await expect(called).rejects.toThrow(`Unknown tool: ${name}`);
    }
  },
);

test.each([
  [undefined, []],
  [['export', 'subscriptions'], []],
  [['changes'], ['list_changes']],
  [['files'], ['read_file']],
  [['documents'], ['get_document']],
  [['files', 'documents', 'changes'], MOVING],
] as [Policy['data'], string[]][])(
  'lists the tools that `data` of a policy allows: %j',
  async (data, expected) => {
    const { connect, createKey, call } = await startStage();
    const policy = {
      instances: ['prod'],
      models: { '*': ['read', 'search*', 'fields_get'] },
      ...(data && { data }),
    };
    const client = await connect({ key: await createKey(policy) });
    expect((await listNames(client)).filter((name) => MOVING.includes(name))).toEqual(expected);
    for (const name of MOVING.filter((tool) => !expected.includes(tool)))
      await expect(client.callTool({ name, arguments: { model: 'res.partner', id: 1 } })).rejects.toThrow(
        `Unknown tool: ${name}`,
      );
    const few = await call('search_records', { model: 'res.partner', offset: 1, limit: 1 }, client);
    expect(few.data.next).toBe(2);
    expect(few.data).not.toHaveProperty('hint');
    const found = await call('search_records', { model: 'res.partner', offset: 1 }, client);
    expect(found.data.next).toBe(11);
    if (data?.includes('export')) expect(found.data.hint).toMatch(/POST \/api\/erp\/export/);
    else expect(found.data).not.toHaveProperty('hint');
  },
);

test('refuses a model, a method and an instance that the policy does not allow, with the next step', async () => {
  const { connect, createKey, call, proxy, sandbox } = await startStage();
  await addInstance(proxy, sandbox, 'hidden');
  const key = await createKey({
    instances: ['prod'],
    models: {
      'res.partner': ['read', 'search*', 'fields_get', 'write'],
      'sale.order': ['read', 'create', 'unlink'],
    },
  });
  const client = await connect({ key });
  for (const [name, args] of [
    ['search_records', { model: 'crm.lead' }],
    ['create_record', { model: 'res.partner', values: { name: 'x' } }],
    ['delete_records', { model: 'res.partner', ids: [40] }],
    ['count_records', { model: 'sale.order' }],
    ['describe_model', { model: 'sale.order' }],
  ] as const) {
    const { isError, text } = await call(name, args, client);
    expect(text).toMatch(/^policy_denied: .*\n.*operator/);
    expect(isError).toBe(true);
  }
  for (const name of ['search_records', 'describe_model']) {
    const { text } = await call(name, { model: 'res.partnr' }, client);
    expect(text).toMatch(/^policy_denied: .*res\.partnr.*\nNext: Check the name of the model by list_models/);
  }
  const hidden = await call('search_records', { model: 'res.partner', instance: 'hidden' }, client);
  expect(hidden.text).toBe(
    'invalid_params: There is no instance "hidden" for this key.\nNearest names: prod.\nNext: Send one of these names as `instance`, or leave it out if there is only one.',
  );
  expect((await call('get_context', {}, client)).data.instances).toEqual(['prod']);
  const { models } = (await call('list_models', {}, client)).data;
  expect(models.map(({ model }: { model: string }) => model)).toEqual(['res.partner', 'sale.order']);
});

test('a key that may not ask for fields still searches and reads', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { 'res.partner': ['read', 'search*'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models }) });
  const found = await call('search_records', { model: 'res.partner', query: 'Deco' }, client);
  expect(found.data.records).toEqual([{ id: 10, display_name: 'Deco Addict' }]);
  const read = await call(
    'read_records',
    { model: 'res.partner', ids: [10], fields: ['name', 'vat'] },
    client,
  );
  expect(read.data.records).toEqual([{ id: 10, name: 'Deco Addict', vat: null }]);
});

test('needs `instance` if the key sees several, and names them', async () => {
  const { call, proxy, sandbox } = await startStage();
  await addInstance(proxy, sandbox, 'test');
  const { text } = await call('count_records', { model: 'res.partner' });
  expect(text).toMatch(/^invalid_params: `instance` is needed.*\nNearest names: prod, test\./);
  expect(
    (await call('count_records', { model: 'res.partner', instance: 'test' })).data.count,
  ).toBeGreaterThan(5);
  expect((await call('get_context')).data).toMatchObject({ instances: ['prod', 'test'], hint: /instance/ });
});

test('tools without `fields` ask for no names of related records that a rule denies', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { '*': ['read', 'search*', 'fields_get'] };
  const fields = { 'res.partner': { deny: ['name'] } };
  const key = await createKey({ instances: ['prod'], models, fields, data: ['changes'] });
  const client = await connect({ key });
  for (const [tool, args] of [
    ['search_records', { model: 'sale.order' }],
    ['read_records', { model: 'sale.order', ids: [1] }],
    ['list_changes', { model: 'sale.order' }],
  ] as const) {
    const { text, isError } = await call(tool, args, client);
    expect({ tool, isError, text }).toMatchObject({ tool, isError: false });
    expect(text).toContain('"S0000');
    expect(text).not.toContain('partner_id');
  }
});

/** A company, and its contacts, which Odoo finds by the name of their company. */
const DECO_ADDICT = [10, 23, 24, 25];

test('fields that a policy denies are neither shown, nor found, nor searched', async () => {
  const { connect, createKey, call } = await startStage();
  const client = await connect({
    key: await createKey({
      instances: ['prod'],
      models: { 'res.partner': ['read', 'search*', 'fields_get', 'read_group'] },
      fields: { 'res.partner': { deny: ['email', 'phone'] } },
    }),
  });
  const model = 'res.partner';
  const found = await call('search_records', { model, query: 'Deco' }, client);
  expect(found.data.records[0]).toMatchObject({ id: 10, name: 'Deco Addict' });
  expect(found.data.records.map(({ id }: { id: number }) => id)).toEqual(DECO_ADDICT);
  const read = await call('read_records', { model, ids: [10] }, client);
  const described = await call('describe_model', { model, query: 'email' }, client);
  for (const { text } of [found, read, described]) expect(text).not.toMatch(/"email"|info@/);
  expect((await call('search_records', { model, query: 'info@addict' }, client)).data.records).toEqual([]);
  for (const args of [
    { model, fields: ['email'] },
    { model, domain: [['email', '=', 'info@addict.example.com']] },
    { model, order: 'email' },
  ]) {
    const { text, isError } = await call('search_records', args, client);
    expect(text).toMatch(/^(policy_denied|query_invalid): /);
    expect(isError).toBe(true);
  }
  const grouped = await call('aggregate_records', { model, group_by: ['email'] }, client);
  expect(grouped.text).toMatch(/^(policy_denied|query_invalid): /);
});

test('a model of which the policy leaves no field to show is described by none', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { 'res.partner': ['read', 'fields_get'] };
  const fields = { 'res.partner': { allow: ['comment'] } };
  const client = await connect({ key: await createKey({ instances: ['prod'], models, fields }) });
  const { data } = await call('describe_model', { model: 'res.partner' }, client);
  expect(data).toEqual({ model: 'res.partner', fields: [], others: 2 });
});

test.each([
  ['denied', { deny: ['email'] }],
  ['allowed', { allow: ['city', 'credit_limit'] }],
])('groups are counted and measured under a policy with %s fields', async (_, rule) => {
  const { connect, createKey, call } = await startStage();
  const client = await connect({
    key: await createKey({
      instances: ['prod'],
      models: { 'res.partner': ['read', 'search*', 'fields_get', 'read_group'] },
      fields: { 'res.partner': rule },
    }),
  });
  const model = 'res.partner';
  const counted = await call('aggregate_records', { model, group_by: ['city'] }, client);
  expect(counted.data.groups).toContainEqual({ city: 'Namur', count: expect.any(Number) });
  expect((await call('aggregate_records', { model }, client)).data.groups).toHaveLength(1);
  const measures = ['credit_limit:sum', 'credit_limit:max'];
  const measured = await call('aggregate_records', { model, group_by: ['city'], measures }, client);
  expect(measured.data.groups[0]).toMatchObject({ 'credit_limit:sum': 0, 'credit_limit:max': 0 });
});

test('the limit of a policy bounds a page, and the rest comes with `next`', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { 'res.partner': ['read', 'search*', 'fields_get'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models, limit_max: 3 }) });
  const found = await call('search_records', { model: 'res.partner', order: 'id' }, client);
  expect(found.data.records).toHaveLength(3);
  expect(found.data.next).toBe(3);
  const read = await call('read_records', { model: 'res.partner', ids: [9, 10, 11, 12] }, client);
  expect(read.data).toMatchObject({ rest: [12] });
  expect(read.data).not.toHaveProperty('missing');
});

test('the language and time zone of a policy apply instead of those of the Odoo user', async () => {
  const { connect, createKey, call } = await startStage();
  const context = { tz: 'Asia/Tokyo' };
  const models = { 'res.users': ['context_get', 'read'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models, context }) });
  const { data } = await call('get_context', {}, client);
  expect(data.user).toMatchObject({ name: 'Mitchell Admin', lang: 'en_US', tz: 'Asia/Tokyo' });
  expect(data.companies).toEqual([]);
});

test('each call on Odoo counts for the rate of the key', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { 'res.partner': ['*'] };
  const rate = { requests: 5, seconds: 3600 };
  const client = await connect({
    key: await createKey({ instances: ['prod'], models, rate, concurrency: 1 }),
  });
  const texts: string[] = [];
  for (let n = 0; n < 6; n++) {
    const args = { model: 'res.partner', fields: ['name'] };
    texts.push(await call('search_records', args, client).then(({ text }) => text, String));
  }
  // The first call also asks for the user and the fields of the model.
  expect(texts[0]).toContain('records');
  expect(texts.at(-1)).toMatch(/as many calls as it may/);
});

test('each call on Odoo is recorded in the log, with the key and the instance', async () => {
  const { call, proxy } = await startStage();
  await call('count_records', { model: 'res.partner' });
  const calls = proxy.log.filter(({ msg }) => msg === 'call');
  expect(calls).toMatchObject([
    { instance: 'prod', model: 'res.users', method: 'context_get', outcome: 'ok', batchIndex: 0 },
    { instance: 'prod', model: 'res.partner', method: 'search_count', outcome: 'ok', batchIndex: 1 },
  ]);
  expect(new Set(calls.map((line) => line['requestId'])).size).toBe(1);
});

test('a key that is missing, wrong or used by a web page is refused before the protocol begins', async () => {
  const { proxy } = await startStage();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (more: Record<string, string>) =>
    send(`${proxy.url}/mcp`, { method: 'POST', headers: { ...headers, ...more }, body });
  expect((await post({})).status).toBe(401);
  expect((await post({ authorization: 'Bearer ep_wrong' })).status).toBe(401);
  const page = await post({ 'x-proxy-api': proxy.key, origin: 'https://evil.example' });
  expect(page.status).toBe(403);
  expect(JSON.parse(page.body.toString()).error.data.rule).toBe('cors_origins');
  expect((await post({ authorization: `Bearer ${proxy.key}` })).status).toBe(200);
});

test('GET and DELETE, with which clients of 2025 manage sessions, get 405', async () => {
  const { proxy } = await startStage();
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await send(`${proxy.url}/mcp`, {
      method,
      headers: { 'x-proxy-api': proxy.key },
    });
    expect(status).toBe(405);
    expect(headers.allow).toBe('POST');
  }
});

test('what one policy of a user allowed to see is not shown under another one', async () => {
  const issuer = closeAfterTest(await startIssuer());
  const models = { 'sale.order': ['read', 'search*', 'fields_get'] };
  const rules = [
    { claim: 'role', value: 'editor', policy: { instances: ['prod'], models } },
    { policy: { instances: ['prod'], models: { 'sale.order': ['read', 'search*'], 'res.partner': ['*'] } } },
  ];
  const { call, connect } = await startStage({
    settings: {
      'auth.issuers': JSON.stringify([describeIssuer(issuer, { rules })]),
      'http.publicUrl': AUDIENCE,
    },
  });
  const sign = (claims: object) => signToken(makeKey('first'), makeClaims(issuer, Date.now(), { ...claims }));
  const ask = async (claims: object) => {
    const client = await connect({ token: sign(claims) });
    return call('describe_model', { model: 'sale.order' }, client);
  };
  expect((await ask({ role: 'editor' })).data.model).toBe('sale.order');
  expect((await ask({})).text).toMatch(/^policy_denied: /);
});

test('100 sessions at once make as many calls on Odoo as 100 calls', async () => {
  const { connect, call, sandbox } = await startStage();
  const clients = await Promise.all(
    Array.from({ length: 100 }, (_, n) => connect({ mode: n % 2 === 0 ? 'modern' : 'legacy' })),
  );
  const counts = await Promise.all(
    clients.map((client, n) =>
      call('count_records', { model: 'res.partner', domain: [['id', '<=', n]] }, client),
    ),
  );
  expect(counts.every(({ isError }) => !isError)).toBe(true);
  expect(sandbox.requests.calls).toMatchObject({
    'res.partner.search_count': 100,
    'res.users.context_get': 1,
  });
  expect(sandbox.requests.calls).not.toHaveProperty('res.partner.fields_get');
});

test('a search by text does without what a rule for fields denies of partners', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { '*': ['read', 'search*', 'fields_get'] };
  const search = async (fields: NonNullable<Policy['fields']>) => {
    const client = await connect({ key: await createKey({ instances: ['prod'], models, fields }) });
    return call('search_records', { model: 'sale.order', query: 'azure', fields: ['id'] }, client);
  };
  const all = await call('search_records', { model: 'sale.order', query: 'azure', fields: ['id'] });
  expect(all.data.records).not.toEqual([]);
  const byName = await search({ 'res.partner': { deny: ['vat'] } });
  expect(byName.data.records).toEqual(all.data.records);
  const byNeither = await search({ 'res.partner': { deny: ['name'] } });
  expect(byNeither).toMatchObject({ isError: false, data: { records: [] } });
});

test('a field that the policy denies is not available, rather than unknown', async () => {
  const { connect, createKey, call } = await startStage();
  const models = { '*': ['read', 'search*', 'fields_get', 'create', 'write'] };
  const fields = { 'res.partner': { deny: ['email', 'phone'] } };
  const client = await connect({ key: await createKey({ instances: ['prod'], models, fields }) });
  const model = 'res.partner';
  const one = await call('search_records', { model, domain: [['email', 'ilike', 'a']] }, client);
  expect(one.text).toMatch(
    /^policy_denied: The field "email" of res\.partner is not available to this key\.\nNext: Do not try again/,
  );
  const both = await call('update_records', { model, ids: [10], values: { email: 'a', phone: 'b' } }, client);
  expect(both.text).toMatch(/^policy_denied: The fields "email", "phone" of res\.partner are not available/);
  const mixed = await call(
    'search_records',
    {
      model,
      domain: [
        ['email', '=', 'a'],
        ['nam', '=', 'b'],
      ],
    },
    client,
  );
  expect(mixed.text).toMatch(
    /^query_invalid: res\.partner has no fields "email" \(not available to this key\), "nam" \(nearest: name/,
  );
  const some = await call('search_records', { model, fields: ['name', 'email'] }, client);
  expect(some.data.unknown_fields).toEqual(['email (not available to this key)']);
});

test('tools have an argument for the instance only if the key may call several', async () => {
  const { connect, createKey, proxy, sandbox } = await startStage();
  const list = async (key?: string) => {
    const { tools } = await (await connect(key === undefined ? {} : { key })).listTools();
    return tools.filter(({ inputSchema }) => 'instance' in (inputSchema.properties ?? {})).length;
  };
  expect(await list()).toBe(0);
  await addInstance(proxy, sandbox, 'test');
  const models = { '*': ['*'] };
  expect(await list(await createKey({ instances: ['test'], models }))).toBe(0);
  const key = await createKey({ instances: ['prod', 'test'], models });
  await expect.poll(() => list(key)).toBe(11);
});

test('the hint of a long list has an export that gives all of it', async () => {
  const { call, proxy } = await startStage();
  const args = { model: 'ir.model.fields', query: 'a', fields: ['name'], limit: 100 };
  const { data } = await call('search_records', args);
  const [, body = '{}'] = /POST \/api\/erp\/export with this key (\{.*\})\.$/.exec(data.hint) ?? [];
  const headers = { 'x-proxy-api': proxy.key, 'content-type': 'application/json' };
  const exported = await send(`${proxy.url}/api/erp/export`, { method: 'POST', headers, body });
  const lines = exported.body.toString().trim().split('\n');
  expect(lines.length, data.hint + lines[0]).toBeGreaterThan(100);
  expect(lines.slice(0, -1).every((line: string) => 'name' in JSON.parse(line))).toBe(true);
});
