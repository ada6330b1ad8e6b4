/** Tests that notices before client keys end reach their webhook although the processes that send them are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { countRounds } from '../random-cases.ts';
import { startReceiver } from '../subscriptions/receiver.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { pauseAtRandom } from '../time.ts';

const PROGRAM = fileURLToPath(new URL('../subscriptions/killable-proxy.ts', import.meta.url));
const BETWEEN_KILLS_MS_MAX = 300;
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

test('each notice arrives although the proxies are killed', async () => {
  const folder = makeFolder();
  const store = `sqlite:${join(folder, 'store.db')}`;
  const receiver = closeAfterTest(await startReceiver());
  const settings = {
    'store.url': store,
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'egress.allow': receiver.url,
  };
  // This proxy only creates the subscription and the keys: it delivers nothing.
  const creator = await startProxy({ settings });
  const admin = creator.app.adminFor(TEST_ACTOR);
  const made = await admin.createSubscription({
    name: 'ends',
    events: ['key.ends'],
    url: receiver.url,
    start: 'all',
    // The spawned proxies shorten this to 50 ms.
    interval_seconds: 250,
  });
  receiver.secrets.push(made.secret);
  const ends = Array.from({ length: 12 }, (_, index) => Date.now() + 1000 + index * 500);
  const keys = await Promise.all(
    ends.map((expiresAt) => creator.app.keys.create({ name: 'app', expiresAt })),
  );
  await creator.close();
  const spawnProxy = async () => {
    const child = spawn(process.execPath, [PROGRAM, store, receiver.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  };
  await Promise.all([spawnProxy(), spawnProxy()]);
  for (let kill = 0; kill < countRounds(3); kill++) {
    await pauseAtRandom(Math.random, BETWEEN_KILLS_MS_MAX);
    const [victim] = running;
    victim?.kill('SIGKILL');
    running.delete(victim!);
    await spawnProxy();
  }
  const expired = () => receiver.received.filter(({ json }) => json.data.expired === true);
  const idsOf = () => new Set(expired().map(({ json }) => json.data.id));
  await expect.poll(() => idsOf().size).toBe(keys.length);
  // A repeated notice has the same `webhook-id`, because each notice was stored once.
  expect(new Set(expired().map(({ id }) => id)).size).toBe(keys.length);
  expect(receiver.received.every(({ fault }) => fault === null)).toBe(true);
});
