/**
 * Measures how processes divide busy subscriptions. All subscriptions follow the same record, each with the shortest
 * interval. After a write of the record: the time until half of the subscriptions and all of them have delivered it.
 * Odoo answers after 200 ms, so that the processes wait for it and not for processors. Needs TEST_POSTGRES_URL.
 * Run: node packages/server/test/subscriptions/busy-replicas.ts 3000 3
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@erp-proxy/sandbox';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { startProxy } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { monotonicMs, pause } from '../time.ts';
import { startReceiver, TAKE } from './receiver.ts';

const [count = 3000, processes = 3] = process.argv.slice(2).map(Number);
const PROGRAM = fileURLToPath(new URL('../../bin/erp-proxy.mjs', import.meta.url));
const ODOO_MS = 200;
/** A process reads two subscriptions of an instance at once, and sixteen of all. */
const INSTANCES = 24;
/** Longer than two renewals of the leases of shards. */
const DIVISION_MS = 12_000;
const WAIT_MS_MAX = 300_000;

const schema = await createTestSchema(process.env['TEST_POSTGRES_URL'] ?? '');
const sandboxes = await Promise.all(Array.from({ length: INSTANCES }, () => startSandbox({ version: 18 })));
const receiver = await startReceiver();
/** When each subscription has delivered the present version. */
let arrived = new Map<string, number>();
let version = 0;
receiver.answer = (response, delivery, index) => {
  const { subscription, record } = delivery.json.data;
  if (record.comment.includes(`version ${version}.`)) arrived.set(subscription, monotonicMs());
  receiver.received.length = 0;
  TAKE(response, delivery, index);
};
for (const sandbox of sandboxes) sandbox.beforeCall(() => pause(ODOO_MS));
const children = new Set<ChildProcess>();
try {
  await createSubscriptions();
  process.stderr.write('The subscriptions are created.\n');
  const rows = [];
  for (const running of [1, processes]) {
    while (children.size < running) start();
    // The first version that each subscription delivers is that of its first reading.
    if (rows.length === 0) await measure();
    await pause(DIVISION_MS);
    rows.push({ processes: running, lag: await measure() });
    process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
  }
  const [victim] = children;
  victim?.kill('SIGKILL');
  if (victim !== undefined) children.delete(victim);
  const afterKill = await measure();
  process.stdout.write(
    `${JSON.stringify({ subscriptions: count, odooMs: ODOO_MS, rows, afterKill }, null, 1)}\n`,
  );
} finally {
  for (const child of children) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await receiver.close();
  for (const sandbox of sandboxes) await sandbox.close();
  await schema.drop();
}

async function createSubscriptions(): Promise<void> {
  const { app, close } = await startProxy({
    settings: { 'store.url': schema.url, 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') },
  });
  for (const [index, { url, db, users }] of sandboxes.entries()) {
    const { userId, apiKey } = users.admin;
    const instance = { url, db, user_id: userId, api_key: apiKey, allow_private: true };
    await app.adminFor(TEST_ACTOR).createInstance({ name: `i${index}`, ...instance });
  }
  for (let index = 0; index < count; index++)
    await app.subscriptions.add({
      name: `s${index}`,
      instance: `i${index % INSTANCES}`,
      model: 'res.partner',
      domain: [['id', '=', 10]],
      fields: ['comment'],
      url: receiver.url,
      interval_seconds: 5,
      start: 'all',
    });
  await close();
}

function start(): void {
  const settings = [
    `--store.url=${schema.url}`,
    '--upstream.protocol=jsonrpc',
    `--egress.allow=${receiver.url}`,
  ];
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--http.port=0', ...settings], {
    env: { ...process.env, ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  children.add(child);
}

/** Seconds from a write until half of the subscriptions, and all, have delivered it. */
async function measure() {
  version++;
  arrived = new Map();
  for (const sandbox of sandboxes) {
    const transaction = sandbox.begin();
    transaction.write('res.partner', 10, { comment: `version ${version}.` });
    transaction.commit();
  }
  const startedMs = monotonicMs();
  while (arrived.size < count && monotonicMs() - startedMs < WAIT_MS_MAX) await pause();
  const times = [...arrived.values()].map((ms) => ms - startedMs).sort((one, other) => one - other);
  const toSeconds = (ms: number | undefined) => (ms === undefined ? null : +(ms / 1000).toFixed(1));
  return { half: toSeconds(times[count >> 1]), all: toSeconds(times[count - 1]), arrived: arrived.size };
}
