/** Tests docs/mcp.md#several-instances: tools that ask several instances at once. */
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startUpstream } from '../scripted-upstream.ts';
import { addInstance, callTool, type Stage, startStage } from './stage.ts';

const COUNT = { model: 'res.partner' };

async function startSeveral(): Promise<Stage> {
  const stage = await startStage();
  const older = closeAfterTest(await startSandbox({ version: 16 }));
  await addInstance(stage.proxy, older, 'client-16');
  await addInstance(stage.proxy, stage.sandbox, 'client-18');
  return stage;
}

test('answers of several instances stand by their names, in the shape that the tool declares', async () => {
  const { connect, call } = await startSeveral();
  const client = await connect();
  // The official client checks the answers of tools that it has listed.
  const { tools } = await client.listTools();
  const asking = tools.filter(({ inputSchema }) => 'instances' in Object(inputSchema.properties));
  expect(asking.map(({ name }) => name)).toEqual([
    'search_records',
    'read_records',
    'count_records',
    'aggregate_records',
  ]);
  const counted = await callTool(client, 'count_records', { ...COUNT, instances: ['client-*'] });
  const one = await callTool(client, 'count_records', { ...COUNT, instance: 'client-18' });
  expect(counted.data.by_instance['client-18']).toEqual(one.data);
  expect(Object.keys(counted.data.by_instance)).toEqual(['client-16', 'client-18']);
  const query = { model: 'res.partner', query: 'deco', fields: ['name'], instances: ['prod', 'client-16'] };
  const found = await callTool(client, 'search_records', query);
  expect(found.data.by_instance['client-16'].records[0]).toMatchObject({ name: 'Deco Addict' });
  const sums = { model: 'sale.order', measures: ['amount_total:sum'], instances: '*' };
  const { data } = await call('aggregate_records', sums);
  expect(data.by_instance.prod.groups).toHaveLength(1);
});

test('an instance that fails is an error of its own', async () => {
  const { call, proxy, sandbox } = await startSeveral();
  const broken = closeAfterTest(await startUpstream((socket) => void socket.destroy()));
  await addInstance(proxy, { ...sandbox, url: broken.url }, 'broken');
  const { data, isError } = await call('count_records', { ...COUNT, instances: ['*'] });
  expect(isError).toBe(false);
  expect(data.by_instance.broken.error).toMatch(/^upstream_unreachable: /);
  expect(data.by_instance.prod.count).toBeGreaterThan(5);
  const unknown = await call('count_records', { model: 'no.model', instances: ['prod', 'client-16'] });
  expect(unknown.data.by_instance['client-16'].error).toMatch(/^model_not_found: /);
});

test('asks only instances that the key may use, each within the policy', async () => {
  const { call, connect, createKey, proxy } = await startSeveral();
  const models = { 'res.partner': ['search_count'] };
  const client = await connect({ key: await createKey({ instances: ['client-*'], models, concurrency: 1 }) });
  const { data } = await call('count_records', { ...COUNT, instances: ['*'] }, client);
  expect(Object.keys(data.by_instance)).toEqual(['client-16', 'client-18']);
  const hidden = await call('count_records', { ...COUNT, instances: ['prod'] }, client);
  expect(hidden.text).toMatch(/^invalid_params: No instance of this key matches "prod"\./);
  expect(hidden.text).not.toMatch(/Nearest names: .*prod/);
  const denied = await call('count_records', { model: 'sale.order', instances: ['*'] }, client);
  expect(denied.data.by_instance['client-16'].error).toMatch(/^policy_denied: /);
  const counts = proxy.log.filter(({ msg, method }) => msg === 'call' && method === 'search_count');
  expect(counts.slice(0, 2).map(({ instance }) => instance)).toEqual(['client-16', 'client-18']);
});

test('refuses a wrong choice with the next step', async () => {
  const { call } = await startSeveral();
  const both = await call('count_records', { ...COUNT, instance: 'prod', instances: ['*'] });
  expect(both.text).toBe('invalid_params: Send `instance` or `instances`, not both.');
  const near = await call('count_records', { ...COUNT, instances: ['client-17'] });
  expect(near.text).toMatch(/"client-17"\.\nNearest names: client-1.*\nNext: Send names of get_context/);
});

test('one call asks at most 50 instances, and its answers stay short', async () => {
  const { call, proxy, sandbox } = await startSeveral();
  for (let index = 0; index < 48; index++) await addInstance(proxy, sandbox, `more-${index}`);
  const many = await call('count_records', { ...COUNT, instances: ['*'] });
  expect(many.text).toBe(
    'invalid_params: `instances` matches 51 servers.\nNext: Choose at most 50 in one call.',
  );
  const most = await call('search_records', { ...COUNT, limit: 100, instances: ['more-*'] });
  const { by_instance: shown, rest } = most.data;
  expect(most.text.length).toBeLessThan(30_000);
  expect([...Object.keys(shown), ...rest]).toHaveLength(48);
});
