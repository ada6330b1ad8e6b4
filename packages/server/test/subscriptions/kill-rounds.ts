/**
 * Kills proxies at random while records change, stops them for a while, or cuts them off from the store. Checks what
 * the receiver got: for each subscription the last version of every record, the versions of each in order, and never
 * two at once. The proxies share the store, so that others take over from one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@erp-proxy/sandbox';
import { startProxy } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { pause, pauseAtRandom } from '../time.ts';
import { findFault, startReceiver, watchOverlaps } from './receiver.ts';

const PROGRAM = fileURLToPath(new URL('killable-proxy.ts', import.meta.url));
const RECORDS = 5;
const ANSWER_MS_MAX = 10;
const BETWEEN_EVENTS_MS_MAX = 150;
/** Longer than the lease of a shard. */
const AWAY_MS = 300;
/**
 * Number of checks without a further delivery, after which none is expected: at least half a minute. The proxies wait
 * up to 20 s before they send again what has failed many times, as on a busy machine.
 */
const IDLE_CHECKS_MAX = 1500;

/** `kill`: with SIGKILL. `stop`: with SIGSTOP, for a while. `cut`: no connection to PostgreSQL, for a while. */
export type ReplicaEvent = 'kill' | 'stop' | 'cut';

export interface KillOptions {
  /** Number of events. They follow each other in the order of `events`, at random times and to random replicas. */
  rounds: number;
  seed: number;
  events?: readonly ReplicaEvent[];
  /** Default: a SQLite file. */
  storeUrl?: string | undefined;
  replicas?: number;
  subscriptions?: number;
}

export interface KillReport {
  seed: number;
  events: Record<ReplicaEvent, number>;
  /** Number of writes of each record in Odoo. */
  versions: number;
  deliveries: number;
  /** Number of deliveries that came again with the same `webhook-id`. */
  repeated: number;
  /** Number of processes that have sent deliveries. */
  senders: number;
  /** Descriptions of everything that was not as promised. */
  faults: string[];
}

export async function runKillRounds({
  rounds,
  seed,
  events = ['kill'],
  storeUrl,
  replicas = 2,
  subscriptions = 1,
}: KillOptions): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  const url = storeUrl ?? `sqlite:${folder}/store.db`;
  const random = createRandom(seed);
  const sandbox = await startSandbox({ version: 18 });
  const receiver = await startReceiver();
  const faults: string[] = [];
  const happened: Record<ReplicaEvent, number> = { kill: 0, stop: 0, cut: 0 };
  const overlaps: string[] = [];
  /** The secret of each subscription. */
  const secrets = new Map<string, string>();
  receiver.answer = watchOverlaps(overlaps, async (response, { body, headers, json }) => {
    const secret = secrets.get(json.data.subscription) ?? '';
    const fault = findFault(body, headers as Record<string, string>, [secret]);
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
  const names = Array.from({ length: subscriptions }, (_, index) => `killed-${index}`);
  for (const name of names) {
    const made = await admin.createSubscription({
      name,
      instance: 'prod',
      model: 'res.partner',
      domain: [['name', 'like', 'Kill']],
      fields: ['name'],
      url: receiver.url,
      // The spawned proxies shorten the interval to 50 ms.
      interval_seconds: 250,
      start: 'all',
    });
    secrets.set(name, made.secret);
  }
  await creator.close();

  const running = new Set<Replica>();
  const start = async () => {
    const relay = url.startsWith('postgres') ? await startRelay(url) : null;
    const child = spawn(process.execPath, [PROGRAM, relay?.url ?? url, settings['egress.allow']], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add({ child, relay });
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
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
    await Promise.all(Array.from({ length: replicas }, start));
    for (let round = 0; round < rounds; round++) {
      write();
      await pauseAtRandom(random, BETWEEN_EVENTS_MS_MAX);
      const event = events[round % events.length] ?? 'kill';
      happened[event]++;
      const victim = [...running][Math.floor(random() * running.size)];
      if (victim !== undefined) await HAPPEN[event](victim);
      if (event !== 'kill' || victim === undefined) continue;
      running.delete(victim);
      await start();
    }
    write();
    await waitForLast();
    checkOrder();
    for (const id of overlaps) faults.push(`two deliveries of ${id} at once`);
  } finally {
    for (const replica of running) await HAPPEN.kill(replica);
    await receiver.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const distinct = new Set(receiver.received.map(({ id }) => id));
  return {
    seed,
    events: happened,
    versions: version,
    deliveries: receiver.received.length,
    repeated: receiver.received.length - distinct.size,
    senders: new Set(receiver.received.map(({ headers }) => headers['user-agent'])).size,
    faults,
  };

  function versionsOf(name: string, id: number): number[] {
    return receiver.received
      .filter(({ json }) => json.data.subscription === name && json.data.id === id)
      .map(({ json }) => Number(json.data.record.name.split(' ').at(-1)));
  }

  async function waitForLast(): Promise<void> {
    const isLast = () => names.every((name) => ids.every((id) => versionsOf(name, id).at(-1) === version));
    let seen = 0;
    for (let idle = 0; idle < IDLE_CHECKS_MAX && !isLast(); idle++) {
      if (receiver.received.length > seen) idle = 0;
      seen = receiver.received.length;
      await pause();
    }
    for (const name of names)
      for (const id of ids)
        if (versionsOf(name, id).at(-1) !== version)
          faults.push(`${name}: record ${id} is at version ${versionsOf(name, id).at(-1)}, not ${version}`);
  }

  function checkOrder(): void {
    for (const name of names) {
      for (const id of ids) {
        const versions = versionsOf(name, id);
        const isInOrder = versions.every((each, at) => at === 0 || each >= (versions[at - 1] ?? 0));
        if (!isInOrder) faults.push(`${name}: record ${id} has the order ${versions.join(' ')}`);
      }
    }
  }
}

interface Replica {
  readonly child: ChildProcess;
  /** Null: the store is a file. */
  readonly relay: Relay | null;
}

const HAPPEN: Record<ReplicaEvent, (replica: Replica) => Promise<void>> = {
  async kill({ child, relay }) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await relay?.close();
  },
  async stop({ child }) {
    child.kill('SIGSTOP');
    await pause(AWAY_MS);
    child.kill('SIGCONT');
  },
  async cut({ relay }) {
    relay?.cut();
    await pause(AWAY_MS);
    relay?.mend();
  },
};

interface Relay {
  /** Address of the store through this relay. */
  url: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Passes connections on to the server of a store. */
async function startRelay(store: string): Promise<Relay> {
  const url = new URL(store);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let isCut = false;
  const server: Server = createServer((one) => {
    if (isCut) return void one.destroy();
    const other = connect(Number(port || POSTGRES_PORT), hostname);
    for (const socket of [one, other]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        one.destroy();
        other.destroy();
      });
    }
    one.pipe(other).pipe(one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const destroyAll = () => sockets.forEach((socket) => void socket.destroy());
  return {
    url: url.href,
    cut() {
      isCut = true;
      destroyAll();
    },
    mend() {
      isCut = false;
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const POSTGRES_PORT = 5432;

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
