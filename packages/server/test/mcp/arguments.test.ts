/** Tests arguments that models get wrong: which are understood, and which are refused with a clear error. */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { startStage } from './stage.ts';

test('understands JSON as text, one value for a list, and null for what is left out', async () => {
  const { call } = await startStage();
  const deco = { records: [{ id: 10, name: 'Deco Addict' }] };
  for (const args of [
    { domain: '[["name", "=", "Deco Addict"]]', fields: 'name' },
    { domain: [['id', '=', 10]], fields: ['name'], order: null, instance: null },
  ]) {
    expect((await call('search_records', { model: 'res.partner', ...args })).data).toMatchObject(deco);
  }
  for (const ids of [10, '10', '[10]']) {
    expect((await call('read_records', { model: 'res.partner', ids, fields: ['name'] })).data).toMatchObject(
      deco,
    );
  }
});

test('clips a limit and a list of ids that are too large', async () => {
  const { call } = await startStage();
  const search = await call('search_records', { model: 'ir.model.fields', fields: ['id'], limit: 5000 });
  expect(search.data).toMatchObject({ next: 100 });
  expect(search.data.records).toHaveLength(100);
  const ids = Array.from({ length: 250 }, (_, index) => index + 1);
  const read = await call('read_records', { model: 'ir.model.fields', ids, fields: ['id'] });
  expect(read.data.records.map(({ id }: { id: number }) => id)).toEqual(ids.slice(0, 100));
  expect(read.data.rest).toEqual(ids.slice(100));
  const groups = await call('aggregate_records', {
    model: 'ir.model.fields',
    group_by: ['model'],
    limit: 1_000_000,
  });
  expect(groups.isError).toBe(false);
});

test('takes digits for a number, also in a list', async () => {
  const { call } = await startStage();
  const list = async (args: object) => {
    const { data, text } = await call('search_records', { model: 'res.partner', fields: ['id'], ...args });
    expect(data, text).toBeDefined();
    return data.records.map(({ id }: { id: number }) => id);
  };
  const [first, second] = await list({ limit: 2 });
  expect(await list({ limit: '1' })).toEqual([first]);
  expect(await list({ limit: ' 1 ', offset: '1' })).toEqual([second]);
  const read = await call('read_records', {
    model: 'res.partner',
    ids: [String(first), second],
    fields: ['id'],
  });
  expect(read.data.records).toEqual([{ id: first }, { id: second }]);
  for (const limit of ['0', '1.5', '-1', '1e3', ''])
    expect((await call('search_records', { model: 'res.partner', limit })).text).toMatch(
      /^invalid_params: `limit`/,
    );
});

test('does not take an id that is too large for another one', async () => {
  const { call } = await startStage();
  for (const id of [2 ** 53, 1e300]) {
    const { text } = await call('read_file', { model: 'res.partner', id, field: 'image_1920' });
    expect(text).toMatch(/^invalid_params: `id`: Too big/);
  }
});

test.each<[object, string]>([
  [{ model: ['res.partner'] }, '`model`: expected string, received array.'],
  [{}, '`model`: expected string, it is missing.'],
  [{ model: 'res.partner; drop' }, '`model`: expected the technical name of a model, such as "res.partner".'],
  [{ model: 'res.partner', domain: { name: 'x' } }, '`domain`: expected array, received object.'],
  ...[['name', 'ilike', 'a'], [['name']], [[['name', '=', 'a']]], 'name ilike a'].map<[object, string]>(
    (domain) => [
      { model: 'res.partner', domain },
      '`domain`: expected conditions [field, operator, value], e.g. [["name","ilike","deco"]].',
    ],
  ),
  [{ model: 'res.partner', limit: 'five' }, '`limit`: expected number, received string.'],
  [{ model: 'res.partner', domian: [] }, 'There is no argument "domian"; did you mean "domain"?'],
])('refuses %j', async (args, message) => {
  const { call } = await startStage();
  const { isError, text } = await call('search_records', args);
  expect(text).toBe(
    `invalid_params: ${message}\nNext: Send arguments such as {"model": "sale.order", "domain": [["state", "=", "draft"], ["partner_id", "ilike", "deco"]]}.`,
  );
  expect(isError).toBe(true);
});

test('refuses long values as JSON text, which are read at once', async () => {
  const { call } = await startStage();
  const values = (bytes: number) => `{"name": "${'x'.repeat(bytes)}"}`;
  const create = async (text: string) => call('create_record', { model: 'res.partner', values: text });
  expect((await create(values(60_000))).isError).toBe(false);
  expect((await create(values(70_000))).text).toBe(
    'invalid_params: JSON as text may have 65536 characters.\nNext: Send the list or object itself, not as text.',
  );
});

test('refuses arguments that are no object, and names an unknown tool', async () => {
  const { connect } = await startStage();
  const client = await connect();
  await expect(client.callTool({ name: 'count_records', arguments: [] as never })).rejects.toThrow();
  await expect(client.callTool({ name: 'drop_database' })).rejects.toThrow(
    'Unknown tool: drop_database. This key has the tools get_context,',
  );
});

test('refuses bodies that are too large, too deep or no JSON', async () => {
  const { proxy } = await startStage();
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-proxy-api': proxy.key,
  };
  const post = async (body: string) => {
    const answer = await send(`${proxy.url}/mcp`, { method: 'POST', headers, body });
    return { status: answer.status, type: JSON.parse(answer.body.toString()).error.data.type };
  };
  const wrap = (value: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_records","arguments":{"model":"res.partner","domain":${value}}}}`;
  const tooLarge = wrap(`["${'x'.repeat(1024 * 1024)}"]`);
  expect(await post(tooLarge)).toEqual({ status: 413, type: 'payload_too_large' });
  const tooDeep = wrap('['.repeat(200) + ']'.repeat(200));
  expect(await post(tooDeep)).toEqual({ status: 400, type: 'invalid_request' });
  expect(await post('{"jsonrpc":')).toEqual({ status: 400, type: 'parse_error' });
});

test('huge arguments that fit are passed on, and their answer stays small', async () => {
  const { call } = await startStage();
  const many = Array.from({ length: 50_000 }, (_, id) => id);
  const { data, text } = await call('search_records', { model: 'res.partner', domain: [['id', 'in', many]] });
  expect(data.records).toHaveLength(10);
  expect(data.next).toBe(10);
  expect(text.length).toBeLessThan(6000);
});

test.each(['before', 'behind'])('answers a call with its cancellation %s it in one batch', async (place) => {
  const { proxy, createKey } = await startStage();
  const key = await createKey({ instances: ['prod'], models: { '*': ['*'] }, concurrency: 1 });
  const params = { name: 'count_records', arguments: { model: 'res.partner' } };
  const batch: object[] = [{ jsonrpc: '2.0', id: 7, method: 'tools/call', params }];
  const cancellation = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
  if (place === 'before') batch.unshift(cancellation);
  else batch.push(cancellation);
  const answer = await send(`${proxy.url}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-03-26',
      'x-proxy-api': key,
    },
    body: JSON.stringify(batch),
  });
  expect(answer.body.toString()).toMatch(/"count":\d+.*"id":7/);
});
