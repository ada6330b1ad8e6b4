/**
 * Measures the processor time of one process that works idle subscriptions, as a part of a core: with subscriptions and
 * without. Run: node packages/server/test/subscriptions/idle-cost.ts 1000 60
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@erp-proxy/sandbox';
import { startProxy } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { pause } from '../time.ts';

const TICKS_PER_SECOND = 100;
const BETWEEN_CHANGES_MS = 300;
const STARTED_MS = 10_000;
/** Longer than the time over which the first and the second readings after a start are spread. */
const FIRST_READINGS_MS = 135_000;
const [count = 1000, seconds = 60] = process.argv.slice(2).map(Number);
const PROGRAM = fileURLToPath(new URL('../../bin/erp-proxy.mjs', import.meta.url));

// The records of the sandbox are an hour old, and ten were changed just now.
const sandbox = await startSandbox({ version: 18, clock: () => Date.now() - 3_600_000 });
sandbox.setClock(Date.now);
for (let id = 10; id < 20; id++) {
  const transaction = sandbox.begin();
  transaction.write('res.partner', id, { comment: 'changed' });
  transaction.commit();
  await pause(BETWEEN_CHANGES_MS);
}
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
const masterKey = Buffer.alloc(32, 7).toString('base64');
try {
  const without = await measure(0);
  const withAll = await measure(count);
  process.stdout.write(
    `${JSON.stringify({ subscriptions: count, seconds, idle: without, working: withAll, difference: +(withAll.core - without.core).toFixed(4) }, null, 2)}\n`,
  );
} finally {
  await sandbox.close();
  rmSync(folder, { recursive: true });
}

async function measure(subscriptions: number) {
  const store = `sqlite:${folder}/${subscriptions}.db`;
  const creator = await startProxy({ settings: { 'store.url': store, 'vault.masterKey': masterKey } });
  const admin = creator.app.adminFor(TEST_ACTOR);
  const { userId, apiKey } = sandbox.users.admin;
  await admin.createInstance({
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: userId,
    api_key: apiKey,
    allow_private: true,
  });
  for (let index = 0; index < subscriptions; index++)
    await creator.app.subscriptions.add({
      name: `s${index}`,
      instance: 'prod',
      model: 'res.partner',
      domain: [['is_company', '=', true]],
      fields: ['name', 'email', 'phone'],
      url: `https://receiver.example.com/${index}`,
    });
  await creator.close();
  const child = spawn(
    process.execPath,
    [PROGRAM, 'serve', '--http.port=0', `--store.url=${store}`, '--upstream.protocol=jsonrpc'],
    { env: { ...process.env, ERP_PROXY_VAULT_MASTER_KEY: masterKey }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child.stdout.resume();
  // Waits until the first readings after the start are over.
  await pause(subscriptions === 0 ? STARTED_MS : FIRST_READINGS_MS);
  const before = { ticks: readTicks(child.pid ?? 0), requests: sandbox.requests.total };
  await pause(seconds * 1000);
  const ticks = readTicks(child.pid ?? 0) - before.ticks;
  const calls = sandbox.requests.total - before.requests;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { core: +(ticks / TICKS_PER_SECOND / seconds).toFixed(4), calls };
}

/** User and system time of all threads. */
function readTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
