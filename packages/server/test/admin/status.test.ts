/** Tests what administrators see of Odoo servers and their methods. */
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { answerLikeOdoo, startUpstream } from '../scripted-upstream.ts';
import { type Json, SETTINGS, startAdmin } from './admin-client.ts';

test.each([
  [18, '18.0', 'jsonrpc'],
  [19, '19.0', 'json2'],
] as const)('shows version, protocol and mean answer time of Odoo %i', async (version, serie, protocol) => {
  const sandbox = closeAfterTest(await startSandbox({ version }));
  const { userId, apiKey } = sandbox.users.admin;
  const settings = { ...SETTINGS, 'upstream.protocol': 'auto' };
  const { proxy, post, get } = await startAdmin({ settings, secrets: [apiKey] });
  const { url, db } = sandbox;
  const instance = { name: 'prod', url, db, user_id: userId, api_key: apiKey, allow_private: true };
  expect((await post('/instances', instance)).status).toBe(201);
  const call = {
    action: 'search_count',
    model_id: 'res.partner',
    params: [[]],
    erp_instance: { name: 'prod' },
  };
  const ask = async (): Promise<Json> => {
    // The limiter knows a mean after some answers.
    for (let count = 0; count < 20; count++) expect((await proxy.call(call)).json).toHaveProperty('result');
    return (await get('/status')).json.upstreams[0];
  };
  await expect.poll(ask).toMatchObject({ version: serie, protocol, answer_ms: expect.any(Number) });
});

test.each([
  ['a long text', `18.0${'x'.repeat(100_000)}`, null],
  ['control characters', '18.0\u001b[2J', null],
  ['a series of Odoo Online', 'saas~18.2', 'saas~18.2'],
])('a server that any caller names may report %s as its version', async (_name, serie, shown) => {
  const version = {
    server_version: '18.0',
    server_version_info: [18, 0, 0, 'final', 0, ''],
    server_serie: serie,
    protocol_version: 1,
  };
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const result = body.includes('"version"') ? version : true;
      answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    }),
  );
  const settings = { ...SETTINGS, 'upstream.protocol': 'auto' };
  const { proxy, get } = await startAdmin({ allow: [upstream.url], settings });
  const erp_instance = { url: upstream.url, db: 'prod', user_id: 2, api_key: 'odoo-secret-1' };
  const call = { model_id: 'res.partner', action: 'read', params: [[1]], erp_instance };
  expect((await proxy.call(call)).json).toMatchObject({ result: true });
  expect((await get('/status')).json.upstreams).toMatchObject([{ version: shown, protocol: 'jsonrpc' }]);
});

test('shows the checks of /readyz', async () => {
  const { proxy, get } = await startAdmin();
  const ready: Json = await (await fetch(`${proxy.url}/readyz`)).json();
  const { checks } = (await get('/status')).json;
  expect(Object.keys(checks).sort()).toEqual(Object.keys(ready.checks).sort());
  expect(checks.traffic).toEqual({ state: 'ok', detail: null });
});

test('lists methods with their positional arguments and what they do', async () => {
  const { get } = await startAdmin();
  const { methods } = (await get('/methods')).json;
  const find = (action: string, model: string | null = null) =>
    methods.find((method: Json) => method.action === action && method.model === model);
  const required = true;
  expect(find('search_read')).toEqual({
    action: 'search_read',
    model: null,
    kind: 'read',
    params: [
      { name: 'domain' },
      { name: 'fields' },
      { name: 'offset' },
      { name: 'limit' },
      { name: 'order' },
    ],
  });
  expect(find('write')).toMatchObject({
    kind: 'write',
    params: [
      { name: 'ids', required },
      { name: 'vals', required },
    ],
  });
  expect(find('unlink')).toMatchObject({ kind: 'delete', params: [{ name: 'ids', required }] });
  expect(find('action_confirm', 'sale.order')).toMatchObject({
    kind: 'unknown',
    params: [{ name: 'ids', required }],
  });
  expect(find('has_group', 'res.users')).toMatchObject({ kind: 'read' });
  // Odoo refuses calls of `sudo`.
  expect(find('sudo')).toBeUndefined();
  const names = methods.map(({ action, model }: Json) => `${model} ${action}`);
  expect(new Set(names).size).toBe(names.length);
});
