/** Starts a proxy with a stored sandbox and the admin API, and a receiver, with times short enough for tests. */

import type { Admin } from '@erp-proxy/admin';
import type { NewSubscriptionView, SubscriptionInput, SubscriptionView } from '@erp-proxy/contract';
import type { WorkerTimes } from '@erp-proxy/data/subscriptions';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, type ProxyOptions, startProxy } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Intervals of 50 ms, and retries after 50 ms, 3 s, 18 s … */
export const SHORT_TIMES: WorkerTimes = {
  leaseMs: 3000,
  claimMs: 6000,
  sendMs: 3000,
  secondMs: 10,
  upkeepMs: 200,
};
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

export interface Stage {
  sandbox: Sandbox;
  receiver: Receiver;
  proxy: ErpProxy;
  admin: Admin;
  /** Creates a subscription for contacts of the receiver, whose signatures are then checked. */
  subscribe(changes?: Partial<SubscriptionInput>): Promise<NewSubscriptionView>;
  show(name?: string): Promise<SubscriptionView>;
  /** Calls a method of contacts in Odoo. */
  odoo(action: string, ...params: unknown[]): Promise<unknown>;
  /** Starts another proxy, with the same settings. */
  startOther(options?: ProxyOptions): Promise<ErpProxy>;
}

export async function startStage(options: ProxyOptions = {}): Promise<Stage> {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const receiver = closeAfterTest(await startReceiver());
  const startOther = async (others: ProxyOptions = {}) =>
    closeAfterTest(
      await startProxy({
        subscriptionTimes: SHORT_TIMES,
        ...options,
        ...others,
        settings: {
          'vault.masterKey': MASTER_KEY,
          'egress.allow': [sandbox.url, receiver.url].join(','),
          ...options.settings,
          ...others.settings,
        },
      }),
    );
  const proxy = await startOther();
  const admin = proxy.app.adminFor(TEST_ACTOR);
  await admin.createInstance({
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: sandbox.users.admin.userId,
    api_key: sandbox.users.admin.apiKey,
  });
  return {
    sandbox,
    receiver,
    proxy,
    admin,
    startOther,
    show: (name = 'contacts') => admin.getSubscription(name),
    async subscribe(changes = {}) {
      const made = await admin.createSubscription({
        name: 'contacts',
        instance: 'prod',
        model: 'res.partner',
        fields: ['name', 'email'],
        url: `${receiver.url}/hook`,
        interval_seconds: 5,
        start: 'all',
        domain: [['name', 'like', 'Test']],
        ...changes,
      });
      receiver.secrets.push(made.secret);
      return made;
    },
    async odoo(action, ...params) {
      const answer = await proxy.call({
        action,
        model_id: 'res.partner',
        params,
        erp_instance: { name: 'prod' },
      });
      if (answer.json.error !== undefined) throw new Error(JSON.stringify(answer.json.error));
      return answer.json.result;
    },
  };
}
