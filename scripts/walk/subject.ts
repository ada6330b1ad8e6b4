/** The proxy of `npm run walk`, in a process of its own, which its parent asks for what ran. */
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceInput } from '@erp-proxy/contract';
import { type Proxy as ErpProxy, startProxy } from '../../packages/server/test/harness.ts';
import { TEST_ACTOR } from '../../packages/server/test/test-actor.ts';

export interface Walked {
  /** Number of functions that ran, by file. */
  files: Record<string, number>;
}

/** After this time, the work that a request leaves to later, such as its record, has run. */
const SETTLED_MS = 300;
const ADMIN_TOKEN = 't'.repeat(40);
const ROOT = new URL('../../packages/', import.meta.url).href;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
let proxy: ErpProxy | undefined;
let receiverUrl = '';
let isSubscribed = false;

// biome-ignore lint/suspicious/noExplicitAny: messages of the parent
process.on('message', async (message: any) => process.send?.(await answer(message)));

// biome-ignore lint/suspicious/noExplicitAny: messages of the parent
async function answer(message: any): Promise<object> {
  if (message.start !== undefined) return start(message.start);
  if (message.subscribe !== undefined) return subscribe();
  await sleep(SETTLED_MS);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files: Record<string, number> = {};
  for (const { url, functions } of result) {
    if (!url.startsWith(ROOT) || !url.includes('/src/')) continue;
    const ran = functions.filter(
      ({ functionName, ranges }) => functionName !== '' || ranges[0]?.startOffset !== 0,
    );
    const count = ran.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length;
    if (count > 0) files[url.slice(ROOT.length)] = count;
  }
  return { files };
}

/** Subscribes only once, since later readings of changes would count for other requests. */
async function subscribe(): Promise<object> {
  if (isSubscribed) return {};
  isSubscribed = true;
  await proxy?.app.adminFor(TEST_ACTOR).createSubscription({
    name: 'walk',
    instance: 'prod',
    model: 'res.partner',
    fields: ['name'],
    url: receiverUrl,
    interval_seconds: 5,
    domain: [['id', '=', 1]],
    start: 'all',
  });
  return {};
}

async function start(given: { allow: string; instance: InstanceInput; receiverUrl: string }) {
  receiverUrl = given.receiverUrl;
  proxy = await startProxy({
    settings: {
      'egress.allow': given.allow,
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
      'admin.token': ADMIN_TOKEN,
    },
  });
  const admin = proxy.app.adminFor(TEST_ACTOR);
  await admin.createInstance(given.instance);
  return { url: proxy.url, key: proxy.key, adminToken: ADMIN_TOKEN };
}
