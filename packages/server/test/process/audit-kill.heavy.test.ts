/** Tests the audit when the program ends: a graceful stop loses nothing, and kill -9 only the latest calls. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { openStore } from '@erp-proxy/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { makeFolder, makeKey, runProgram, type Server, startServer } from './program.ts';

const CLIENTS = 8;

let folder: string;
let sandbox: Sandbox;
beforeEach(async () => {
  folder = makeFolder();
  sandbox = await startSandbox();
});
afterEach(() => sandbox.close());

interface Load {
  /** Ids of the requests that were answered. */
  answered: Set<string>;
  /** Resolves when the clients have stopped. */
  stop(): Promise<void>;
}

/** Starts several clients that call repeatedly until the server is gone. */
function callOnAndOn(server: Server, key: string, name: string): Load {
  const answered = new Set<string>();
  let isStopped = false;
  const { url, db, users } = sandbox;
  const { userId: user_id, apiKey: api_key } = users.admin;
  const body = JSON.stringify({
    action: 'search_read',
    model_id: 'res.partner',
    keyword: { fields: ['name'], limit: 1 },
    erp_instance: { url, db, user_id, api_key },
  });

  async function runClient(client: number): Promise<void> {
    for (let count = 0; !isStopped; count++) {
      const id = `${name}-${client}-${count}`;
      const headers = { 'x-proxy-api': key, 'content-type': 'application/json', 'x-request-id': id };
      try {
        const answer = await send(`${server.url}/api/erp/execute`, { method: 'POST', headers, body });
        if (answer.status !== 200) return;
        answered.add(id);
      } catch {
        return;
      }
    }
  }

  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
  return {
    answered,
    async stop() {
      isStopped = true;
      await clients;
    },
  };
}

const start = () => startServer([`--egress.allow=${sandbox.url}`], { folder });

async function readRequestIds(): Promise<Set<string>> {
  const store = await openStore(`sqlite:${join(folder, 'data/erp-proxy.db')}`);
  const rows = await store.audit.readAfter(0, 1_000_000);
  await store.close();
  return new Set(rows.map(({ record }) => JSON.parse(record).request_id));
}

async function verify() {
  const { status, stdout, stderr } = await runProgram(['audit', 'verify', '--json'], { folder });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

test('is written while calls go on, survives kill -9, and its chain continues', async () => {
  const first = await start();
  const key = await makeKey(first);
  const load = callOnAndOn(first, key, 'first');
  await expect.poll(() => load.answered.size).toBeGreaterThan(100);
  const due = new Set(load.answered);
  await expect.poll(async () => due.difference(await readRequestIds()).size).toBe(0);
  first.kill('SIGKILL');
  await first.ended;
  await load.stop();
  // Calls were still answered while the test waited.
  expect(load.answered.size).toBeGreaterThan(due.size);
  expect(due.difference(await readRequestIds())).toEqual(new Set());
  const { last_seq, head } = await verify();

  const second = await start();
  const more = callOnAndOn(second, key, 'second');
  await expect.poll(() => more.answered.size).toBeGreaterThan(10);
  await more.stop();
  second.kill('SIGTERM');
  expect((await second.ended).status).toBe(0);
  const kept = await runProgram(['audit', 'verify', `--head=${head}`, '--json'], { folder });
  expect(JSON.parse(kept.stdout)).toMatchObject({ intact: true, fault: null });
  expect(JSON.parse(kept.stdout).last_seq).toBeGreaterThan(last_seq);
});

test('loses nothing at a graceful stop', async () => {
  const server = await start();
  const key = await makeKey(server);
  const load = callOnAndOn(server, key, 'only');
  await expect.poll(() => load.answered.size).toBeGreaterThan(300);
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
  await load.stop();
  expect(load.answered.difference(await readRequestIds())).toEqual(new Set());
  expect(await verify()).toMatchObject({ intact: true });
});

test.each([1, 2])(
  'the program exits with 1 and a message if records are lost at a stop, with %d workers',
  async (workers) => {
    const server = await startServer([`--egress.allow=${sandbox.url}`, `--workers=${workers}`], { folder });
    const key = await makeKey(server);
    const file = join(folder, 'data/erp-proxy.db');
    const database = new DatabaseSync(file);
    database.exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END",
    );
    database.close();
    const load = callOnAndOn(server, key, 'lost');
    await expect.poll(() => load.answered.size).toBeGreaterThan(20);
    await load.stop();
    server.kill('SIGTERM');
    const { status, stdout } = await server.ended;
    expect(status).toBe(1);
    expect(stdout).toContain('records of the audit are lost');
  },
);
