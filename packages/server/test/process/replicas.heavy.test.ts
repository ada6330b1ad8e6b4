/** Tests several processes that share only PostgreSQL and Redis: changes by one of them take effect in all. */
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { createTestSchema, type TestSchema } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import {
  answerTrue,
  makeCall,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { makeFolder, runProgram, type Server, startServer } from './program.ts';

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const REDIS_URL = process.env['TEST_REDIS_URL'] ?? '';
const TOKEN = 'only-for-the-tests-of-several-replicas';
const COUNT = 4;

describe.skipIf(POSTGRES_URL === '')('four processes on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  let sandbox: Sandbox;
  /** An Odoo that misbehaves according to its script. */
  let upstream: ScriptedUpstream;
  let script: Script;
  let args: string[];
  let replicas: Server[];
  let key: string;

  beforeEach(async () => {
    [schema, sandbox] = await Promise.all([createTestSchema(POSTGRES_URL), startSandbox()]);
    script = answerTrue;
    upstream = await startUpstream((...request) => script(...request));
    args = [
      `--store.url=${schema.url}`,
      `--egress.allow=${sandbox.url},${upstream.url}`,
      `--upstream.protocolFor=${upstream.url}=jsonrpc`,
      `--admin.token=${TOKEN}`,
      '--upstream.refusedCredentialsTtlMs=0',
      '--upstream.concurrency=40',
      '--upstream.concurrencyMin=40',
    ];
    if (REDIS_URL !== '') args.push(`--redis.url=${REDIS_URL}`);
    replicas = await Promise.all(
      Array.from({ length: COUNT }, () => startServer(args, { folder: makeFolder() })),
    );
    ({ key } = await administer(replicas[0] as Server, 'POST', 'keys', { name: 'first' }));
  });
  afterEach(async () => {
    for (const replica of replicas) replica.kill('SIGKILL');
    await Promise.all(replicas.map(({ ended }) => ended));
    await sandbox.close();
    await upstream.close();
    await schema.drop();
  });

  function call(
    { url }: Server,
    clientKey: string,
    changes: object = {},
    headers: Record<string, string> = {},
  ) {
    const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
    return send(`${url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'x-proxy-api': clientKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        action: 'read',
        model_id: 'res.partner',
        params: [[1]],
        erp_instance: { url: sandbox.url, db: sandbox.db, user_id, api_key },
        ...changes,
      }),
    });
  }

  const callEverywhere = async (clientKey: string) =>
    (await Promise.all(replicas.map((replica) => call(replica, clientKey)))).map(({ status }) => status);

  async function administer({ url }: Server, method: string, path: string, body?: object) {
    const answer = await send(`${url}/admin/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, answer.body.toString()).toBeLessThan(300);
    return JSON.parse(answer.body.toString());
  }

  /** The state of the only database that the process has called. */
  const readUpstream = async (replica: Server) => (await administer(replica, 'GET', 'status')).upstreams[0];
  const isClosed = ({ breaker }: { breaker: string }) => breaker === 'closed';

  test('start at the same moment on an empty database, and one creates the tables', async () => {
    expect(await callEverywhere(key)).toEqual(Array(COUNT).fill(200));
    const versions = await schema.query('SELECT version FROM erp_proxy_migrations ORDER BY version');
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
  });

  test('refuse a key after one of them has revoked it', async () => {
    const [first, second] = replicas as [Server, Server];
    const made = await administer(first, 'POST', 'keys', { name: 'shop' });
    expect(await callEverywhere(made.key)).toEqual(Array(COUNT).fill(200));
    await administer(second, 'POST', `keys/${made.id}/revoke`);
    await expect.poll(() => callEverywhere(made.key)).toEqual(Array(COUNT).fill(401));
  });

  test('write one audit with an intact chain while all of them have calls', async () => {
    for (let round = 0; round < 5; round++) await callEverywhere(key);
    for (const replica of replicas) replica.kill('SIGTERM');
    for (const { ended } of replicas) expect((await ended).status).toBe(0);
    const replica = await startServer(args, { folder: makeFolder() });
    replicas.push(replica);
    const calls = await administer(replica, 'GET', 'audit?kind=call&limit=100');
    expect(calls.items).toHaveLength(5 * COUNT);
    expect(await administer(replica, 'GET', 'audit/verify')).toMatchObject({ intact: true, fault: null });
  });

  test('run a call once that all of them receive at once with one idempotency key', async () => {
    const create = { action: 'create', params: [{ name: 'Once' }] };
    const headers = { 'idempotency-key': 'order-1' };
    const callAll = () => Promise.all(replicas.map((replica) => call(replica, key, create, headers)));
    const first = (await callAll()).map(({ status }) => status);
    expect(first).toContain(200);
    expect([200, 409]).toEqual(expect.arrayContaining(first));
    const again = await callAll();
    expect(again.map((answer) => answer.headers['idempotency-replayed'])).toEqual(Array(COUNT).fill('true'));
    expect(new Set(again.map(({ body }) => body.toString())).size).toBe(1);
    const count = await call(replicas[0] as Server, key, {
      action: 'search_count',
      params: [[['name', '=', 'Once']]],
    });
    expect(JSON.parse(count.body.toString()).result).toBe(1);
  });

  test.skipIf(REDIS_URL === '')('enforce the rate of a key together, not each on its own', async () => {
    const policy = { origins: ['*'], models: { '*': ['*'] }, rate: { requests: 10, seconds: 60 } };
    const limited = await administer(replicas[0] as Server, 'POST', 'keys', { name: 'limited', policy });
    const statuses = [];
    for (let round = 0; round < 5; round++) statuses.push(...(await callEverywhere(limited.key)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  test.each<[string, Script]>([
    ['breaks connections', (socket) => void socket.destroy()],
    ['hangs', () => {}],
  ])(
    'each opens its own breaker for an Odoo that %s, and closes it by its own probe',
    async (_what, fail) => {
      // Two clients alternate, because one client alone cannot open a breaker. Writes are not retried automatically.
      const keys = [key, (await administer(replicas[0] as Server, 'POST', 'keys', { name: 'other' })).key];
      const write = makeCall(upstream.url, { action: 'write', params: [[1], {}] });
      let calls = 0;
      const callOdoo = async (replica: Server, timeoutSeconds: number) => {
        const headers = { 'x-request-timeout': `${timeoutSeconds}` };
        const { status } = await call(replica, keys[calls++ % 2] as string, write, headers);
        return status;
      };
      const fiveTimes = (replica: Server) =>
        Promise.all(Array.from({ length: 5 }, () => callOdoo(replica, 3)));
      const areClosed = async () => (await Promise.all(replicas.map(readUpstream))).map(isClosed);
      // A process shows the state of a database only after calling it.
      for (const replica of replicas) expect(await callOdoo(replica, 60)).toBe(200);
      script = fail;
      const [first, ...others] = replicas as [Server, ...Server[]];
      expect(await fiveTimes(first)).not.toContain(200);
      expect(await areClosed()).toEqual([false, ...others.map(() => true)]);
      await Promise.all(others.map(fiveTimes));
      expect(await areClosed()).toEqual(replicas.map(() => false));

      const probes: (() => void)[] = [];
      script = (...request) => void probes.push(() => void answerTrue(...request));
      const callUntilAnswered = async (replica: Server) => {
        while ((await callOdoo(replica, 60)) !== 200) await pause();
      };
      const answered = Promise.all(replicas.flatMap((replica) => [replica, replica]).map(callUntilAnswered));
      await expect.poll(() => probes.length).toBe(COUNT);
      script = answerTrue;
      for (const answer of probes) answer();
      await answered;
      expect(await areClosed()).toEqual(replicas.map(() => true));
    },
  );

  test.skipIf(REDIS_URL === '')(
    'have no more calls at one database at once than one of them may',
    async () => {
      const held: (() => void)[] = [];
      script = (...request) => void held.push(() => void answerTrue(...request));
      const expectEach = (state: object) =>
        expect
          .poll(() => Promise.all(replicas.map(readUpstream)))
          .toEqual(Array(COUNT).fill(expect.objectContaining(state)));
      let id = 0;
      const statuses: number[] = [];
      // The reads differ, because equal reads would share one call. A failure counts as 0: the calls of a failed test
      // must not hide its reason.
      const callEach = () => {
        const sent = replicas.map((replica) =>
          call(replica, key, makeCall(upstream.url, { params: [[++id]] })),
        );
        for (const answer of sent)
          answer.then(
            ({ status }) => statuses.push(status),
            () => statuses.push(0),
          );
      };
      callEach();
      // Each process counts the calls of the others from its next heartbeat on.
      await expectEach({ running: 1, limit: 10 });
      for (let round = 0; round < 14; round++) callEach();
      await expectEach({ running: 10, waiting: 5 });
      // A process counts a call before its connection has arrived.
      await expect.poll(() => held.length).toBe(40);
      expect(upstream.sockets.size).toBe(40);
      script = answerTrue;
      for (const letGo of held) letGo();
      await expect.poll(() => statuses).toEqual(Array(60).fill(200));
    },
  );

  test('report a port that is taken and exit, although connections to the store are open', async () => {
    const { port } = new URL((replicas[0] as Server).url);
    const { status, stderr } = await runProgram(['serve', `--http.port=${port}`, ...args], {
      folder: makeFolder(),
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is taken; .*\n$/);
  });
});
