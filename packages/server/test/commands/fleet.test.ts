/** Tests `erp-proxy fleet call` and `fleet status`. */
import { expect, test } from 'vitest';
import { answerCount, COUNT, type FleetStage, startFleetStage } from '../fleet/fleet-stage.ts';
import { runCommand } from './run-command.ts';

const TOKEN = 'an-admin-token-of-32-characters-0';
const INSTANCES = { 'client-a': ['live'], 'client-b': ['live', 'eu'], other: [] };

function run({ proxy }: Pick<FleetStage, 'proxy'>, args: string[], input = JSON.stringify(COUNT)) {
  const env = { ERP_PROXY_URL: proxy.url, ERP_PROXY_KEY: proxy.key };
  return runCommand(['fleet', ...args], { folder: '/', env, input });
}

test('fleet call prints a line for each instance, and the counts', async () => {
  const stage = await startFleetStage({ instances: INSTANCES });
  for (const choice of [
    ['--instances', 'client-*'],
    ['--tags', 'live,eu'],
  ]) {
    const { status, stdout } = await run(stage, ['call', ...choice]);
    const lines = stdout.trimEnd().split('\n');
    expect(status).toBe(0);
    expect(lines.slice(0, 2).sort()).toEqual([
      '{"instance":"client-a","result":8}',
      '{"instance":"client-b","result":8}',
    ]);
    expect(lines[2]).toBe('{"done":2,"failed":0,"skipped":0}');
  }
});

test('fleet call keeps the form of the values of the call', async () => {
  const bodies: string[] = [];
  const stage = await startFleetStage({
    instances: { a: [] },
    script: (db, socket, body) => {
      bodies.push(body.toString());
      answerCount(db, socket, body);
    },
  });
  const call =
    '{"action": "search_count", "model_id": "res.partner", "params": [[["id", "=", 9007199254740993]]]}';
  expect((await run(stage, ['call', '--instances', 'a'], call)).status).toBe(0);
  expect(bodies[0]).toContain('9007199254740993');
});

test('fleet call ends with 1 if an instance fails', async () => {
  const stage = await startFleetStage({
    instances: INSTANCES,
    settings: { 'upstream.retries': '0' },
    script: (db, socket, body) => (db === 'other' ? socket.destroy() : answerCount(db, socket, body)),
  });
  const { status, stdout, stderr } = await run(stage, ['call', '--instances', '*', '--concurrency', '2']);
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(stdout).toContain('{"done":2,"failed":1,"skipped":0}\n');
});

test('fleet call explains the error of a request as a whole', async () => {
  const stage = await startFleetStage({ instances: INSTANCES });
  const { status, stdout, stderr } = await run(stage, ['call', '--tags', 'nobody']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('No instance that this key may use has the tag "nobody".');
});

test.each([
  [['call'], JSON.stringify(COUNT), 'Give --instances or --tags.'],
  [['call', '--instances', 'a', '--tags', 'b'], JSON.stringify(COUNT), 'Give --instances or --tags.'],
  [['call', '--instances', 'a'], '[]', 'one call as JSON'],
  [['call', '--instances', 'a', '--concurrency', '0'], JSON.stringify(COUNT), 'a number of instances'],
])('fleet call refuses %j with %j', async (args, input, message) => {
  const proxy = { url: 'http://127.0.0.1:1', key: 'ep_x' };
  const { status, stderr } = await run({ proxy } as FleetStage, args, input);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});

test('fleet status shows the state of each instance', async () => {
  const stage = await startFleetStage({ instances: INSTANCES, settings: { 'admin.token': TOKEN } });
  await run(stage, ['call', '--instances', 'client-*']);
  const status = async (...args: string[]) => {
    const env = { ERP_PROXY_ADMIN_TOKEN: TOKEN };
    return runCommand(['fleet', 'status', '--url', stage.proxy.url, ...args], { folder: '/', env });
  };
  const rows = JSON.parse((await status('--json')).stdout);
  expect(rows).toMatchObject([
    { name: 'client-a', tags: ['live'], state: 'reachable', breaker: 'closed', calls: 1, errors: 0 },
    { name: 'client-b', tags: ['live', 'eu'], state: 'reachable' },
    { name: 'other', tags: [], state: 'unknown', calls: 0, p95_ms: null },
  ]);
  expect((await status('--tags', 'eu')).stdout).toMatch(/^client-b\tlive,eu\t/);
  const none = await status('--tags', 'nobody');
  expect(none.status).toBe(1);
  expect(none.stderr).toContain('No instance has the tag nobody.');
});
