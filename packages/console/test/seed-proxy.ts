/**
 * Starts a proxy that looks like one after a working day: keys, instances, a subscription, approvals and calls of 90
 * minutes.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSandbox } from '../../sandbox/src/index.ts';
import { send, startProxy } from '../../server/test/harness.ts';
import { pause } from '../../server/test/time.ts';

export const ADMIN_TOKEN = 'the-admin-token-of-these-tests-0123456789';
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const MINUTES = 90;
const DAY_MS = 86_400_000;

// biome-ignore lint/suspicious/noExplicitAny: the members of answers are not of interest here
type Json = any;

export interface SeededProxy {
  url: string;
  ask(method: string, path: string, body?: unknown): Promise<Json>;
  close(): Promise<void>;
}

export async function startSeededProxy(): Promise<SeededProxy> {
  const sandbox = await startSandbox({ version: 18 });
  const newest = await startSandbox({ version: 19 });
  const receiver = await listenSilently();
  // Keys are created three weeks ago, so that one of them ends soon.
  let backMs = 20 * DAY_MS;
  const proxy = await startProxy({
    clock: () => Date.now() - backMs,
    allow: [sandbox.url, newest.url, receiver.url, 'http://127.0.0.1:9'],
    settings: {
      'admin.token': ADMIN_TOKEN,
      'console.enabled': 'true',
      'vault.masterKey': MASTER_KEY,
      'upstream.protocol': 'auto',
    },
  });
  const ask = askAdmin(proxy.url);
  for (const [name, { url, db, users }] of [
    ['production', sandbox],
    ['staging-19', newest],
  ] as const) {
    const { userId, apiKey } = users.admin;
    await ask('POST', '/instances', { name, url, db, user_id: userId, api_key: apiKey });
  }
  await ask('POST', '/instances', {
    name: 'warehouse',
    url: 'http://127.0.0.1:9',
    db: 'warehouse',
    user_id: 2,
    api_key: 'unused',
  });
  const keys = await createKeys(ask, () => Date.now() - backMs);
  backMs = MINUTES * 60_000;
  await ask('POST', '/subscriptions', {
    name: 'search-index',
    instance: 'production',
    model: 'res.partner',
    fields: ['name', 'email'],
    interval_seconds: 5,
    url: receiver.url,
  });
  for (let minute = 0; minute < MINUTES; minute++) {
    backMs = (MINUTES - minute) * 60_000;
    await sendCalls(proxy.url, keys, minute);
  }
  backMs = 0;
  await sendCalls(proxy.url, keys, MINUTES);
  await execute(proxy.url, keys.agent, 'production', 'res.partner', 'unlink', [[1]]);
  await execute(proxy.url, keys.sync, 'production', 'res.partner', 'write', [[1], { comment: 'Changed' }]);
  // Waits until the subscription has found the change, and its receiver has failed.
  while ((await ask('GET', '/subscriptions/search-index')).receiver.last_failure === null) await pause();
  return {
    url: proxy.url,
    ask,
    async close() {
      await proxy.close();
      await Promise.all([sandbox.close(), newest.close(), receiver.close()]);
    },
  };
}

/** Sends requests to the admin API with the token, and returns the parsed answers. */
export function askAdmin(url: string): SeededProxy['ask'] {
  return async (method, path, body) => {
    const answer = await send(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status >= 300) throw new Error(answer.body.toString());
    return JSON.parse(answer.body.toString() || 'null');
  };
}

interface SeededKeys {
  shop: string;
  report: string;
  agent: string;
  sync: string;
}

async function createKeys(ask: SeededProxy['ask'], now: () => number): Promise<SeededKeys> {
  const create = async (name: string, policy: unknown, days: number | null): Promise<string> => {
    const expires = days === null ? null : new Date(now() + days * DAY_MS).toISOString();
    return (await ask('POST', '/keys', { name, policy, expires_at: expires })).key;
  };
  return {
    shop: await create(
      'Web shop',
      { instances: ['production'], models: { 'res.partner': ['read', 'search*', 'create'] }, limit_max: 200 },
      220,
    ),
    report: await create(
      'Reporting',
      { instances: ['production', 'staging-19'], models: { '*': ['*'] }, read_only: true },
      29,
    ),
    agent: await create(
      'Office agent',
      { instances: ['production'], models: { 'res.*': ['*'] }, approve: { 'res.partner': ['unlink'] } },
      80,
    ),
    sync: await create('Sync job', null, null),
  };
}

/** Sends calls whose number rises and falls over the hour. */
async function sendCalls(url: string, keys: SeededKeys, minute: number): Promise<void> {
  const read = { fields: ['name', 'email'], limit: 5 };
  const count = Math.round(4 + 3 * Math.sin(minute / 9));
  for (let index = 0; index < count; index++) {
    await execute(url, keys.shop, 'production', 'res.partner', 'search_read', [[]], read);
    await execute(url, keys.report, 'staging-19', 'res.partner', 'search_count', [[]]);
    await execute(url, keys.sync, 'production', 'res.country', 'search_read', [[]], {
      ...read,
      fields: ['name'],
    });
  }
  if (minute % 7 === 0) await execute(url, keys.shop, 'production', 'account.move', 'read', [[1]]);
  if (minute % 11 === 0) await execute(url, keys.agent, 'production', 'res.partner', 'read', [[999_999]]);
  if (minute > 80 && minute % 3 === 0)
    await execute(url, keys.sync, 'warehouse', 'res.partner', 'read', [[1]]);
}

async function execute(
  url: string,
  key: string,
  instance: string,
  model: string,
  action: string,
  params: unknown[],
  keyword: object = {},
): Promise<void> {
  await send(`${url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 1,
      action,
      model_id: model,
      keyword,
      params,
      erp_instance: { name: instance },
    }),
  });
}

/** A receiver of webhooks that always fails. */
async function listenSilently(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
