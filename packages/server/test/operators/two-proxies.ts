/**
 * Two proxies that an operator of the customer A asks the same: one has the objects of two customers, the other one
 * only those of A. Both have the same clock and secrets, so that equal questions have equal answers.
 */
import type { Policy } from '@erp-proxy/contract';
import { Cells, makeCall, printPeriod, STEPS } from '@erp-proxy/control/testing';
import type { AdminAnswer, AskOptions, Json } from '../admin/admin-client.ts';
import { SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { send } from '../harness.ts';

export const NOW = 1_800_000_000_000;
/** Nothing listens here. */
const CLOSED = 'http://127.0.0.1:1';
const LONG_MS = 10 * 3_600_000;
const OTHER = 'other';

/** Whose an object is. Those of nobody reach several customers, or the whole proxy. */
export type Owner = 'a' | 'b' | 'nobody';

export type World = Awaited<ReturnType<typeof startAdmin>>;

export interface Objects {
  keys: string[];
  instances: string[];
  /** `<instance>/<encoded id of the person>` */
  connections: string[];
  subscriptions: string[];
  approvals: string[];
  jobs: string[];
}

export async function startTwoProxies() {
  const clock = { now: NOW };
  const start = async () => {
    const world = await startAdmin({
      clock: () => clock.now,
      allow: [CLOSED],
      settings: { ...SETTINGS, 'keys.hashSecret': 'a secret of these tests, 32 bytes and more' },
    });
    // No changes are read and none are sent in the background, as if another process held all shards.
    const { subscriptions } = world.proxy.app.store;
    await subscriptions.holdShards(OTHER, { ttlMs: LONG_MS, latestMs: LONG_MS });
    subscriptions.holdShards = async () => [];
    return world;
  };
  const [whole, part] = [await start(), await start()];
  const objects: Record<Owner, Objects> = { a: createObjects(), b: createObjects(), nobody: createObjects() };
  let seen = 0;

  /** Copies the audit records since the last time to the proxy of A, if they are of A. */
  async function copyRecords(owner: Owner): Promise<void> {
    await whole.proxy.app.audit.flush();
    const { audit } = whole.proxy.app.store;
    for (const { seq, at, record } of await audit.readAfter(seen, 1000)) {
      seen = seq;
      const isOfLogin = JSON.parse(record).target === 'admin';
      if (owner !== 'a' || isOfLogin) continue;
      const { chainKey } = whole.proxy.app.audit.prepareAdminAction(NO_ACTION);
      await part.proxy.app.store.audit.append({ id: `${seq}`, records: [{ at, record }], chainKey });
    }
  }

  const other = (owner: Owner) => (owner === 'b' ? 'client-b' : 'client-a');

  const world = {
    clock,
    whole,
    part,
    objects,
    copyRecords,

    /** `role`: of the operator of A. Returns the text of a token that both proxies accept. */
    async makeToken(role: string): Promise<string> {
      const input = { name: role, role, instances: ['client-a-*'] };
      const { json } = await whole.post('/tokens', input);
      const stored = await whole.proxy.app.store.operatorTokens.findById(json.id);
      await part.proxy.app.store.operatorTokens.insert(stored!);
      await copyRecords('nobody');
      return json.token;
    },

    async addInstance(owner: Owner, name: string): Promise<void> {
      const input = { name, url: CLOSED, db: name, user_id: 2, api_key: 'odoo-secret-1' };
      await whole.post('/instances', {
        ...input,
        key_expires_at: new Date(clock.now + 86_400_000).toISOString(),
      });
      const stored = await whole.proxy.app.store.instances.findByName(name);
      if (owner === 'a') await part.proxy.app.store.instances.insert(stored!);
      objects[owner].instances.push(name);
      await copyRecords(owner);
    },

    async addConnection(owner: Owner, name: string, person: string): Promise<void> {
      const { instances, connections, store } = whole.proxy.app;
      const instance = (await instances.find(name))!;
      const user = { login: 'ada', userId: 7, apiKey: 'odoo-secret-3', keyExpiresAt: null };
      await connections.put(instance, { person, ...user });
      const stored = await store.connections.find(name, person);
      if (owner === 'a') await part.proxy.app.store.connections.put(stored!);
      objects[owner].connections.push(`${name}/${encodeURIComponent(person)}`);
    },

    async addKey(owner: Owner, policy: Policy | null): Promise<string> {
      const expires_at = new Date(clock.now + 5 * 86_400_000).toISOString();
      const { json } = await whole.post('/keys', { name: `key of ${owner}`, policy, expires_at });
      const stored = await whole.proxy.app.store.keys.findById(json.id);
      if (owner === 'a') await part.proxy.app.store.keys.insert(stored!);
      objects[owner].keys.push(json.id);
      await copyRecords(owner);
      return json.id;
    },

    /** Changes the policy of a key, which then has another owner. */
    async moveKey(from: Owner, id: string, to: Owner, policy: Policy): Promise<void> {
      await whole.patch(`/keys/${id}`, { policy });
      const { keys } = part.proxy.app.store;
      const stored = (await whole.proxy.app.store.keys.findById(id))!;
      if (from === 'a') await part.proxy.app.store.keys.update(id, 1, { policy: stored.policy });
      else if (to === 'a') await keys.insert(stored);
      objects[from].keys = objects[from].keys.filter((it) => it !== id);
      objects[to].keys.push(id);
      await copyRecords(from === to ? to : 'nobody');
    },

    async addSubscription(owner: Owner, name: string, source: object): Promise<void> {
      await whole.post('/subscriptions', { name, url: `${CLOSED}/hook/${name}`, ...source });
      const worlds = owner === 'a' ? [whole, part] : [whole];
      const stored = await whole.proxy.app.store.subscriptions.findByName(name);
      if (owner === 'a') await part.proxy.app.store.subscriptions.insert(stored!, 9);
      for (const { proxy } of worlds) {
        await proxy.app.store.subscriptions.commitReading(OTHER, stored!.id, 0, {
          progress: '{}',
          now: clock.now,
          deliveries: [1, 2, 3].map((record) => ({
            id: `msg_${name}_${record}`,
            record: `${record}`,
            type: 'changed',
            body: '{}',
          })),
        });
      }
      objects[owner].subscriptions.push(name);
      await copyRecords(owner);
    },

    async addApproval(owner: Owner, id: string, keyId: string): Promise<void> {
      const instance = owner === 'nobody' ? null : `${other(owner)}-prod`;
      const facts = {
        keyId,
        address: '192.0.2.1',
        instance,
        upstream: CLOSED,
        db: 'db',
        userId: 2,
        model: 'account.move',
        action: 'unlink',
        rule: 'approve["account.move"]',
      };
      const request = {
        id,
        client: keyId,
        fingerprint: id,
        facts: JSON.stringify(facts),
        call: 'sealed by another key',
        createdAt: clock.now,
        expiresAt: clock.now + LONG_MS,
      };
      const bounds = { clientMax: 99, totalMax: 99 };
      const worlds = owner === 'a' ? [whole, part] : [whole];
      for (const { proxy } of worlds) await proxy.app.store.approvals.ask(request, bounds);
      objects[owner].approvals.push(id);
    },

    /** Stores a job that another process seems to run. */
    async addJob(owner: Owner, id: string, keyId: string): Promise<void> {
      const instance = owner === 'nobody' ? null : `${other(owner)}-prod`;
      const job = {
        id,
        client: keyId,
        key: keyId,
        route: 'execute',
        requestId: `r-${id}`,
        facts: JSON.stringify({ instance, model: 'res.partner', action: 'read' }),
        secret: 'sealed by another key',
        name: null,
        fingerprint: id,
        callback: null,
        body: [],
        createdAt: clock.now,
      };
      const bounds = { clientMax: 99, waitingMax: 99, bytesMax: LONG_MS };
      const worlds = owner === 'a' ? [whole, part] : [whole];
      for (const { proxy } of worlds) {
        const { jobs } = proxy.app.store;
        await jobs.add(job, bounds);
        await jobs.claim('another process', LONG_MS, bounds.clientMax, clock.now);
      }
      objects[owner].jobs.push(id);
    },

    /** Records a call in the audit and in the statistics. */
    async addCall(owner: Owner, keyId: string, model: string, outcome: string): Promise<void> {
      const instance = owner === 'nobody' ? null : `${other(owner)}-prod`;
      const call = makeCall({ instance, keyId, clientId: keyId, model, outcome, requestId: `r-${model}` });
      whole.proxy.app.audit.recordCall({ ...call, rule: outcome === 'policy_denied' ? 'models' : null });
      await copyRecords(owner);
      const worlds = owner === 'a' ? [whole, part] : [whole];
      for (const { proxy } of worlds) {
        const { statistics } = proxy.app.store;
        for (const step of ['minute', 'hour'] as const) {
          const cells = new Cells();
          cells.add({
            instance,
            client: keyId,
            model,
            action: 'read',
            outcome,
            sharedFrom: null,
            totalMs: 5,
            upstreamMs: 3,
          });
          const startsAt = clock.now - (clock.now % STEPS[step]);
          const body = printPeriod({ step, startsAt, cells, most: { inFlight: 3, queued: 1 } });
          await statistics.put([{ step, startsAt, process: `p${model}${keyId}`, body }]);
        }
      }
    },
  };
  return world;
}

/** Headers that differ between two equal answers. */
const CHANGING_HEADERS = new Set(['date', 'x-request-id', 'content-length', 'server-timing']);

const NO_ACTION = {
  actor: { type: 'proxy' as const, id: 'proxy', name: 'proxy' },
  address: null,
  requestId: null,
  action: '',
  target: '',
  changes: {},
};

function createObjects(): Objects {
  return { keys: [], instances: [], connections: [], subscriptions: [], approvals: [], jobs: [] };
}

export interface Question extends AskOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
}

/** Asks one proxy, and returns what an answer tells, without what is random or measured. */
export async function tell(world: World, { method, path, ...given }: Question, random: Map<string, string>) {
  const { status, headers, body, json } = await (CALLS.has(path) ? askOdoo : world.ask)(method, path, given);
  learnRandom(json, random);
  const print = (text: string | undefined) => {
    let shown = text ?? '';
    for (const [found, name] of random) shown = shown.replaceAll(found, name);
    return (
      shown
        .replaceAll(/("(?:\w+_ms|ms)":)[\d.]+/g, '$1<ms>')
        // Ids of requests.
        .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<uuid>')
        .replaceAll(/"seq":\d+|^\d+(?=,\d{4}-)/gm, '<seq>')
    );
  };
  const text = print(body.toString())
    .replaceAll(String(headers['x-request-id']), '<request>')
    .replaceAll(/"next":"[\w-]+"/g, '"next":<cursor>');
  const shown = Object.entries(headers).filter(([name]) => !CHANGING_HEADERS.has(name));
  const parts = { status, headers: shown.map(([name, value]) => `${name}: ${print(String(value))}`), text };
  return { parts, json };

  /** Its errors are those of calls. */
  async function askOdoo(_: string, to: string, { body: call, token }: AskOptions): Promise<AdminAnswer> {
    const answer = await send(`${world.proxy.url}/admin/v1${to}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    return { ...answer, json: JSON.parse(answer.body.toString()) };
  }
}

/** The routes that ask Odoo. */
const CALLS: ReadonlySet<string> = new Set(['/execute', '/document']);

/** Ids and secrets of what the answer has created, by the place in the order of their creation. */
function learnRandom(json: Json, random: Map<string, string>): void {
  for (const member of ['key', 'token', 'secret']) {
    const value = json?.[member];
    if (typeof value !== 'string' || !/^(ep_|ept_|whsec_)/.test(value)) continue;
    random.set(value, `<text ${random.size}>`);
    if (json.id !== undefined) random.set(json.id, `<id ${random.size}>`);
  }
}
