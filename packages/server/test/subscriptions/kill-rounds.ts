/**
 * Kills proxies at random while records change, and checks what the receiver got: the last version of every record, and
 * the versions of each in order. Two proxies share the store, so that one takes over from the other.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@erp-proxy/sandbox';
import { startProxy } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { pause, pauseAtRandom } from '../time.ts';
import { startReceiver, watchOverlaps } from './receiver.ts';

const PROGRAM = fileURLToPath(new URL('killable-proxy.ts', import.meta.url));
const RECORDS = 5;
const ANSWER_MS_MAX = 10;
const BETWEEN_KILLS_MS_MAX = 150;
/** Number of checks in at least half a minute. */
const CHECKS_MAX = 1500;

export interface KillReport {
  seed: number;
  kills: number;
  /** Number of writes in Odoo. */
  versions: number;
  deliveries: number;
  /** Number of deliveries that came again with the same `webhook-id`. */
  repeated: number;
  /** Descriptions of everything that was not as promised. */
  faults: string[];
}

/** `storeUrl`: by default, a SQLite file. */
export async function runKillRounds(kills: number, seed: number, storeUrl?: string): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  const url = storeUrl ?? `sqlite:${folder}/store.db`;
  const random = createRandom(seed);
  const sandbox = await startSandbox({ version: 18 });
  const receiver = await startReceiver();
  const faults: string[] = [];
  const overlaps: number[] = [];
  receiver.answer = watchOverlaps(overlaps, async (response, { fault }) => {
    if (fault !== null) faults.push(`signature: ${fault}`);
    await pauseAtRandom(random, ANSWER_MS_MAX);
    response.writeHead(random() < 0.1 ? 500 : 204).end();
  });
  // This proxy only creates the subscription: it delivers nothing.
  const settings = {
    'store.url': url,
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'egress.allow': `${sandbox.url},${receiver.url}`,
  };
  const creator = await startProxy({ settings });
  const admin = creator.app.adminFor(TEST_ACTOR);
  const user = sandbox.users.admin;
  await admin.createInstance({
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: user.userId,
    api_key: user.apiKey,
  });
  const ids = Array.from({ length: RECORDS }, (_, index) => {
    const transaction = sandbox.begin();
    const id = transaction.create('res.partner', { name: `Kill ${index} 0` });
    transaction.commit();
    return id;
  });
  const made = await admin.createSubscription({
    name: 'killed',
    instance: 'prod',
    model: 'res.partner',
    domain: [['name', 'like', 'Kill']],
    fields: ['name'],
    url: receiver.url,
    // The spawned proxies shorten the interval to 50 ms.
    interval_seconds: 250,
    start: 'all',
  });
  receiver.secrets.push(made.secret);
  await creator.close();

  const proxies = new Set<ChildProcess>();
  const start = async () => {
    const child = spawn(process.execPath, [PROGRAM, url, settings['egress.allow']], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    proxies.add(child);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    return child;
  };
  let version = 0;
  const write = () => {
    version++;
    for (const id of ids) {
      const transaction = sandbox.begin();
      transaction.write('res.partner', id, { name: `Kill ${id} ${version}` });
      transaction.commit();
    }
  };
  try {
    await Promise.all([start(), start()]);
    for (let kill = 0; kill < kills; kill++) {
      write();
      await pauseAtRandom(random, BETWEEN_KILLS_MS_MAX);
      const [victim] = proxies;
      victim?.kill('SIGKILL');
      if (victim !== undefined) {
        proxies.delete(victim);
        if (victim.exitCode === null && victim.signalCode === null) await once(victim, 'exit');
      }
      await start();
    }
    write();
    await waitForLast();
    checkOrder();
    for (const id of overlaps) faults.push(`two deliveries of record ${id} at once`);
  } finally {
    for (const child of proxies) child.kill('SIGKILL');
    await receiver.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const distinct = new Set(receiver.received.map(({ id }) => id));
  return {
    seed,
    kills,
    versions: version,
    deliveries: receiver.received.length,
    repeated: receiver.received.length - distinct.size,
    faults,
  };

  function versionsOf(id: number): number[] {
    return receiver.received
      .filter(({ json }) => json.data.id === id)
      .map(({ json }) => Number(json.data.record.name.split(' ').at(-1)));
  }

  async function waitForLast(): Promise<void> {
    const isLast = () => ids.every((id) => versionsOf(id).at(-1) === version);
    for (let check = 0; check < CHECKS_MAX && !isLast(); check++) await pause();
    for (const id of ids)
      if (versionsOf(id).at(-1) !== version)
        faults.push(`record ${id} is at version ${versionsOf(id).at(-1)}, not ${version}`);
  }

  function checkOrder(): void {
    for (const id of ids) {
      const versions = versionsOf(id);
      const isInOrder = versions.every((each, at) => at === 0 || each >= (versions[at - 1] ?? 0));
      if (!isInOrder) faults.push(`record ${id} has the order ${versions.join(' ')}`);
    }
  }
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
