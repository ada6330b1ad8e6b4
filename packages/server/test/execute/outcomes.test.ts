/**
 * Tests docs/execute.md#the-answer: the outcome of a call is that of `execute_kw`. Uses the sandbox, which is as strict
 * as Odoo.
 */
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';

const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19];
let sandboxes: Sandbox[];
let proxy: ErpProxy;
beforeAll(async () => {
  sandboxes = await Promise.all(VERSIONS.map((version) => startSandbox({ version })));
  proxy = await startProxy({ allow: sandboxes.map(({ url }) => url) });
});
afterAll(async () => {
  await proxy.close();
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
});
beforeEach(() => {
  for (const sandbox of sandboxes) sandbox.reset();
});

describe.each(VERSIONS)('Odoo %i', (version) => {
  const findSandbox = () => sandboxes.find((sandbox) => sandbox.version === version)!;
  const makeBody = (action: string, params: unknown, more: Record<string, unknown> = {}) => {
    const { url, db, users } = findSandbox();
    const { userId, apiKey } = users.admin;
    return {
      id: 7,
      action,
      model_id: 'res.partner',
      params,
      ...more,
      erp_instance: { url, db, user_id: userId, api_key: apiKey },
    };
  };
  const run = async (action: string, params: unknown, more?: Record<string, unknown>) => {
    const { status, json, body } = await proxy.call(makeBody(action, params, more));
    expect(status, body.toString()).toBe(200);
    expect(Object.keys(json)).toEqual(['jsonrpc', 'id', 'result']);
    return json.result;
  };

  test('creates, writes, reads and unlinks', async () => {
    const id = await run('create', [{ name: 'Zoë', email: 'zoe@example.com' }]);
    expect(id).toEqual(expect.any(Number));
    const ids = await run('create', [[{ name: 'a' }, { name: 'b' }]]);
    expect(ids).toHaveLength(2);
    expect(await run('write', [[id], { email: 'new@example.com' }])).toBe(true);
    expect(await run('read', [[id], ['name', 'email']])).toEqual([
      { id, name: 'Zoë', email: 'new@example.com' },
    ]);
    expect(await run('unlink', [[id, ...ids]], { keyword: { limit: 3 } })).toBe(true);
    expect(await run('search_count', [[['id', 'in', [id, ...ids]]]])).toBe(0);
  });

  test('limits read, search and search_read', async () => {
    const fields = ['name'];
    const all = await run('search', [[]], { keyword: { order: 'id' } });
    expect(await run('search', [[]], { keyword: { order: 'id', limit: 2 } })).toEqual(all.slice(0, 2));
    expect(await run('search_read', [[]], { keyword: { fields, limit: 2 } })).toHaveLength(2);
    const read = await run('read', [all.slice(0, 5)], { keyword: { fields, limit: 2 } });
    expect(read.map((row: { id: number }) => row.id)).toEqual(all.slice(0, 2));
    expect(await run('read', [all.slice(0, 5)], { keyword: { fields, limit: 0 } })).toHaveLength(5);
  });

  test('changes nothing if the limit refuses the call', async () => {
    const { status } = await proxy.call(
      makeBody('write', [[9, 10], { name: 'lost' }], { keyword: { limit: 1 } }),
    );
    expect(status).toBe(400);
    expect(await run('search_count', [[['name', '=', 'lost']]])).toBe(0);
  });

  test('returns null for a method that returns None', async () => {
    const body = makeBody('action_archive', [[9]]);
    const { body: bytes } = await proxy.post(body);
    expect(bytes.toString()).toBe('{"jsonrpc":"2.0","id":7,"result":null}');
    expect(await run('read', [[9], ['active']])).toEqual([{ id: 9, active: false }]);
  });

  test('runs a business method by its name or by call_method', async () => {
    const sale = { model_id: 'sale.order' };
    const [first, second] = await run('search', [[['state', '=', 'draft']]], sale);
    expect(await run('action_confirm', [[first]], sale)).toBe(true);
    expect(await run('call_method', [[second]], { ...sale, fn_name: 'action_confirm' })).toBe(true);
    const states = await run('read', [[first, second], ['state']], sale);
    expect(states.map((row: { state: string }) => row.state)).toEqual(['sale', 'sale']);
  });

  test('runs the valid calls of a batch beside the invalid ones', async () => {
    const { json } = await proxy.call([
      makeBody('create', [{ name: 'kept' }]),
      makeBody('write', [[999_999], { name: 'x' }]),
      makeBody('no_such_method', []),
      makeBody('search_count', [[['name', '=', 'Wood Corner']]]),
    ]);
    expect(json[0].result).toEqual(expect.any(Number));
    expect(json[1].error.data.type).toBe('record_missing');
    expect(json[2].error.data.type).toBe('method_not_found');
    expect(json[3].result).toBe(1);
    expect(await run('search_count', [[['name', '=', 'kept']]])).toBe(1);
  });

  test('serves call after call on one connection, with every kind of answer', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const post = (body: string, key = proxy.key) =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'x-proxy-api': key };
        const sent = request(`${proxy.url}/api/erp/execute`, { method: 'POST', headers, agent });
        sent.on('socket', (socket) => sockets.add(socket));
        sent.on('error', reject);
        sent.on('response', (response) => {
          buffer(response).then(() => resolve(response.statusCode ?? 0), reject);
        });
        sent.end(body);
      });
    const good = JSON.stringify(makeBody('read', [[1]]));
    const statuses: number[] = [];
    for (const body of [
      good,
      'not JSON',
      good,
      JSON.stringify(makeBody('_x', [])),
      good,
      `[${good},${good}]`,
      good,
    ]) {
      statuses.push(await post(body));
    }
    expect(statuses).toEqual([200, 400, 200, 400, 200, 200, 200]);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });
});
