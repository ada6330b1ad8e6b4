/** Starts equal sandboxes, and sends random calls through the proxy to them, over either protocol. */
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as RunningProxy, send } from '../harness.ts';
import { createRandom } from '../seeded-random.ts';
import type { RandomCall } from './field-calls.ts';

export interface Asked {
  call: RandomCall;
  key: string;
  route: 'execute' | 'json2';
  prefer: boolean;
}

/** Starts two sandboxes with the same data at this time, and random numbers from the seed `SEED`, which is printed. */
export async function startEqualSandboxes(version: Version, now: number) {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`Odoo ${version}: seed ${seed}\n`);
  const sandboxes = await Promise.all([0, 1].map(() => startSandbox({ version, clock: () => now })));
  for (const sandbox of sandboxes) closeAfterTest(sandbox);
  return { random: createRandom(seed), sandboxes };
}

/** Sends a call, and returns status and body of its answer. */
export async function askThrough(proxy: RunningProxy, sandbox: Sandbox, asked: Asked): Promise<string> {
  const { call, key, route, prefer } = asked;
  const { model, method, params, keyword } = call;
  const { userId, apiKey } = sandbox.users.admin;
  const instance = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey };
  if (route === 'json2') {
    const body = { model_id: model, method, kwargs: keyword, odoo_instance: instance };
    const answer = await send(`${proxy.url}/v2/odoo/execute`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return describe(answer.status, answer.body);
  }
  const body = { id: 1, action: method, model_id: model, params, keyword, erp_instance: instance };
  const answer = await proxy.post(body, {
    'x-proxy-api': key,
    ...(prefer ? { prefer: 'values=normalized' } : {}),
  });
  return describe(answer.status, answer.body);
}

function describe(status: number, body: Buffer): string {
  return `${status} ${body.toString()}`;
}
