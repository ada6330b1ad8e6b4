/**
 * Property: what an operator sees and does who is limited to the instances of one customer is what a proxy answers that
 * has nothing of others. The routes come from the table of the server: a new one is asked, too. A case asks each route
 * about each object, so each kind of route has a test file of its own.
 */

import { ADMIN_ROUTES, type AdminRoute } from '@erp-proxy/http/admin/table';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../admin/admin-client.ts';
import { IS_LONG } from '../random-cases.ts';
import { NOW, type Owner, type Question, startTwoProxies, tell } from './two-proxies.ts';

type Worlds = Awaited<ReturnType<typeof startTwoProxies>>;

/** Folders of the routes, by the test file that asks them. */
export const KINDS = {
  keys: ['keys', 'policies', 'tokens', 'execute', 'document'],
  instances: ['instances', 'connections', 'sandbox', 'status', 'methods', 'vault', 'apply'],
  work: ['subscriptions', 'approvals', 'jobs'],
  audit: ['audit'],
  whole: ['stats', 'attention', 'session', 'denied-subjects', 'persons', 'applications'],
} as const;

/** A case takes a second or more. */
const CASES = IS_LONG ? 40 : 1;
const OWNERS: Owner[] = ['a', 'b', 'nobody'];
const A = { instances: ['client-a-*'], models: { '*': ['read'] } };
const POLICIES = {
  a: [A, { ...A, instances: ['client-a-prod'], data: ['subscriptions' as const] }],
  b: [{ ...A, instances: ['client-b-prod'] }],
  nobody: [
    null,
    { ...A, instances: ['*'] },
    { ...A, instances: ['client-*'] },
    { ...A, instances: ['client-a-prod', 'client-b-prod'] },
    { ...A, origins: ['https://erp.example.com'] },
  ],
};

interface Event {
  owner: Owner;
  kind: number;
  pick: number;
}

const event: fc.Arbitrary<Event> = fc.record({
  owner: fc.constantFrom(...OWNERS),
  kind: fc.nat(9),
  pick: fc.nat(99),
});

async function fill(worlds: Worlds, events: Event[]): Promise<void> {
  const { objects } = worlds;
  for (const [owner, name] of [
    ['a', 'client-a-prod'],
    ['b', 'client-b-prod'],
    ['a', 'client-a-test'],
    ['b', 'client-ab'],
  ] as const) {
    await worlds.addInstance(owner, name);
    worlds.clock.now += 1000;
  }
  for (const owner of ['a', 'b'] as const) {
    for (const person of ['corp/ada', 'corp/eve'])
      await worlds.addConnection(owner, `client-${owner}-prod`, person);
  }
  for (const owner of OWNERS) await worlds.addKey(owner, POLICIES[owner][0]!);
  for (const [index, { owner, kind, pick }] of events.entries()) {
    worlds.clock.now += 61_000;
    const policies = POLICIES[owner];
    const keyId = objects[owner].keys[pick % objects[owner].keys.length]!;
    if (kind < 3) await worlds.addKey(owner, policies[pick % policies.length]!);
    else if (kind < 5) {
      const instance = owner === 'b' ? 'client-b-prod' : 'client-a-prod';
      const record = { instance, model: 'res.partner', fields: ['name'] };
      const source = owner === 'nobody' ? { events: ['key.ends'] } : record;
      await worlds.addSubscription(owner, `${instance}.s${index}`, source);
    } else if (kind < 6) await worlds.addJob(owner, `job${index}`, keyId);
    else if (kind < 7) await worlds.addApproval(owner, `apr${index}`, keyId);
    else if (kind < 9) {
      await worlds.addCall(owner, keyId, `model.${index}`, pick % 2 ? 'ok' : 'policy_denied');
    } else if (objects[owner].keys.length > 1) {
      await worlds.moveKey(owner, keyId, 'nobody', { ...A, instances: ['client-a-prod', 'client-b-prod'] });
    }
  }
}

const ABSENT = 'absent1';

/** What each variable of a path can be: objects of all owners, and absent ones. */
function listPaths(route: AdminRoute, { objects }: Worlds): string[] {
  const of = (kind: keyof Worlds['objects']['a']) =>
    OWNERS.flatMap((owner) => objects[owner][kind].slice(0, 2));
  const values: Record<string, string[]> = {
    '/keys': of('keys'),
    '/approvals': of('approvals'),
    '/jobs': of('jobs'),
    '/instances': of('instances'),
    '/connections': [...of('connections'), 'client-a-prod/corp%2Fnobody'],
    '/subscriptions': of('subscriptions'),
    '/audit': ['1', '2', '3', '40'],
    '/denied-subjects': ['corp%2Fada'],
    '/persons': ['corp%2Fada'],
    '/tokens': ['4f7k2m9qXw1B'],
    '/applications': ['aGVsbG8'],
  };
  if (!route.path.includes(':')) return [route.path];
  const folder = `/${route.path.split('/')[1]}`;
  const found = values[folder];
  if (found === undefined) throw new Error(`tell the objects below ${folder} to this test`);
  return [...found, ABSENT].map((value) => route.path.replace(/:\w+(\/:\w+)?/, value));
}

/** Values of parameters of queries, by their names. A new name needs values. */
const QUERIES: Record<string, (worlds: Worlds) => string[]> = {
  cursor: () => [],
  limit: () => ['1'],
  search: () => ['key of', 'client-b', 'hook'],
  name: () => ['key of b', 'key of a'],
  ids: ({ objects }) => [
    OWNERS.flatMap((owner) => objects[owner].keys)
      .slice(0, 90)
      .join(','),
  ],
  state: () => ['active', 'pending', 'waiting', 'running'],
  by: () => ['instance', 'key', 'model'],
  step: () => ['minute', 'hour'],
  since: () => [new Date(NOW).toISOString()],
  until: () => [new Date(NOW + 300_000).toISOString()],
  person: () => ['corp/ada'],
  instance: () => ['client-b-prod', 'client-a-prod', ABSENT],
  key: ({ objects }) => OWNERS.map((owner) => objects[owner].keys[0] ?? ABSENT),
  key_id: ({ objects }) => OWNERS.map((owner) => objects[owner].keys[0] ?? ABSENT),
  client_id: ({ objects }) => OWNERS.map((owner) => objects[owner].keys[0] ?? ABSENT),
  model: () => ['model.5'],
  action: () => ['read', 'key.create', 'key.update'],
  kind: () => ['call', 'admin'],
  approval: () => ['apr1'],
  via: () => ['console'],
  outcome: () => ['policy_denied'],
  errors_only: () => ['true'],
  actor: () => ['token', 'nobody'],
  request_id: () => ['r-model.5'],
  trace_id: () => ['x'],
  address: () => ['192.0.2.1'],
  upstream: () => ['https://erp.example.com'],
  db: () => ['prod'],
  rule: () => ['models'],
  code: () => ['1'],
  http_status: () => ['200'],
  format: () => ['csv', 'ndjson'],
  head: () => ['x'],
};

function listQueries(route: AdminRoute, worlds: Worlds): string[] {
  const { shape = {} } = (route.query ?? {}) as { shape?: object };
  const required = 'ids' in shape ? [] : [''];
  return [
    ...required,
    ...Object.keys(shape).flatMap((name) => {
      const values = QUERIES[name];
      if (values === undefined) throw new Error(`give this test values of the parameter ${name}`);
      return values(worlds).map((value) => `?${name}=${encodeURIComponent(value)}`);
    }),
  ];
}

const SERVER = { url: 'http://127.0.0.1:1', db: 'x', user_id: 2, api_key: 'odoo-secret-2' };
const CALL = { id: 1, action: 'read', model_id: 'res.partner', params: [[1]], keyword: {} };
const DOCUMENT = { id: 1, model_id: 'sale.order', record: 1 };
const OWN_LOGIN = { url: 'http://127.0.0.1:1', db: 'x', user_id: 2, api_key: 'k' };

/** Bodies of the routes that need one. A new route needs bodies. */
const BODIES: Record<string, (worlds: Worlds) => object[]> = {
  createKey: () =>
    [...POLICIES.a, ...POLICIES.b, ...POLICIES.nobody].map((policy) => ({ name: 'new', policy })),
  updateKey: () => [
    { name: 'renamed' },
    ...[...POLICIES.b, ...POLICIES.nobody].map((policy) => ({ policy })),
    { policy: { ...A, instances: ['client-a-test'] } },
  ],
  rotateKey: () => [{ overlap_seconds: 60 }],
  explainCall: () => [{ call: { ...CALL, erp_instance: { name: 'client-b-prod' } } }],
  explainPolicy: () => [{ policy: A, call: { ...CALL, erp_instance: { name: 'client-b-prod' } } }],
  comparePolicy: ({ objects }) => [
    { policy: A },
    { policy: null, since: new Date(NOW).toISOString() },
    { policy: A, client_id: objects.b.keys[0] ?? ABSENT },
  ],
  refuseCall: () => [{ reason: 'no' }],
  createInstance: () => [
    { ...SERVER, name: 'client-b-prod' },
    { ...SERVER, name: 'client-b-new' },
    { ...SERVER, name: 'client-a-prod' },
    { ...SERVER, name: 'client-a-private', allow_private: true },
    { ...SERVER, name: 'client-a-new' },
  ],
  updateInstance: () => [{ user_id: 7 }, { allow_private: true }],
  checkServer: () => [SERVER, { ...SERVER, allow_private: true }],
  createSubscription: ({ objects }) =>
    [
      { name: 'client-a-prod.new', instance: 'client-a-prod', key: objects.b.keys[0] ?? ABSENT },
      { name: 'client-a-prod.new', instance: 'client-a-prod', key: objects.nobody.keys[0] ?? ABSENT },
      { name: 'client-b-prod.new', instance: 'client-b-prod' },
      { name: objects.b.subscriptions[0] ?? 'free', instance: 'client-a-prod' },
      { name: 'free', instance: 'client-a-prod' },
      { name: 'client-a-prod.new', instance: 'client-a-prod' },
    ].map((input) => ({ model: 'res.partner', fields: ['name'], url: 'http://127.0.0.1:1/x', ...input })),
  updateSubscription: ({ objects }) => [
    { instance: 'client-b-prod' },
    { key: objects.b.keys[0] ?? ABSENT },
    { fields: ['name', 'email'] },
  ],
  pauseSubscription: () => [{}],
  rotateSecret: () => [{ overlap_seconds: 60 }],
  replayDeliveries: () => [{ since: new Date(NOW).toISOString() }, { delivery: 'msg_x' }],
  denySubject: () => [{ id: 'corp/ada' }],
  beginApply: () => [{ changes: 1 }],
  createToken: () => [
    { name: 'new', role: 'viewer' },
    { name: 'new', role: 'viewer', instances: null },
    { name: 'new', role: 'viewer', instances: ['*'] },
    { name: 'new', role: 'viewer', instances: ['client-*'] },
    { name: 'new', role: 'viewer', instances: ['client-a-test'] },
  ],
  executeAsAdmin: ({ objects }) => [
    { call: { ...CALL, erp_instance: { name: 'client-b-prod' } } },
    { call: { ...CALL, erp_instance: { name: ABSENT } } },
    { call: { ...CALL, erp_instance: OWN_LOGIN } },
    ...OWNERS.map((owner) => ({
      key_id: objects[owner].keys[0] ?? ABSENT,
      call: { ...CALL, erp_instance: { name: 'client-b-prod' } },
    })),
    { key_id: ABSENT, call: { ...CALL, erp_instance: { name: 'client-a-prod' } } },
  ],
  printDocumentAsAdmin: ({ objects }) => [
    ...[{ name: 'client-b-prod' }, { name: ABSENT }, OWN_LOGIN].map((erp_instance) => ({
      document: { ...DOCUMENT, erp_instance },
    })),
    ...OWNERS.map((owner) => ({
      key_id: objects[owner].keys[0] ?? ABSENT,
      document: { ...DOCUMENT, erp_instance: { name: 'client-b-prod' } },
    })),
  ],
};

function listBodies(route: AdminRoute, worlds: Worlds): (object | undefined)[] {
  if (route.body === undefined) return [undefined];
  const bodies = BODIES[route.id];
  if (bodies === undefined) throw new Error(`give this test bodies of ${route.id}`);
  return bodies(worlds);
}

const isRead = (route: AdminRoute) => route.method === 'GET' || route.isReadOnly === true;

function listQuestions(routes: readonly AdminRoute[], worlds: Worlds): Question[] {
  return routes.flatMap((route) =>
    listPaths(route, worlds).flatMap((path) =>
      listQueries(route, worlds).flatMap((query) =>
        listBodies(route, worlds).map((body) => ({ method: route.method, path: path + query, body })),
      ),
    ),
  );
}

/** Asks the routes of a kind. What they change, the audit shows, too. */
export function testLimited(kind: keyof typeof KINDS): void {
  const folders: readonly string[] = KINDS[kind];
  const isAsked = (path: string) => folders.includes(path.split(/[/?]/)[1] ?? '');
  const routes = ADMIN_ROUTES.filter(({ isOpen, path }) => !isOpen && isAsked(path));

  async function runCase(events: Event[], role: string): Promise<void> {
    const worlds = await startTwoProxies();
    const { whole, part } = worlds;
    const token = await worlds.makeToken(role);
    await fill(worlds, events);
    const random = [new Map<string, string>(), new Map<string, string>()] as const;
    const ask = async (question: Question) => {
      const asked = { ...question, token };
      const seen = await tell(whole, asked, random[0]);
      const expected = await tell(part, asked, random[1]);
      expect({ question, ...seen.parts }).toEqual({ question, ...expected.parts });
    };
    const read = async () => {
      for (const question of listQuestions(routes.filter(isRead), worlds)) await ask(question);
      for (const path of LISTS(worlds).filter(isAsked)) await walk(worlds, path, token);
    };
    await read();
    const changes = routes.filter((route) => !isRead(route));
    for (const question of listQuestions(changes, worlds)) {
      // What is made at one moment has a random order.
      worlds.clock.now += 1000;
      await ask(question);
    }
    await Promise.all([whole.proxy.app.audit.flush(), part.proxy.app.audit.flush()]);
    await read();
    await walk(worlds, '/audit', token);
    await Promise.all([whole.proxy.close(), part.proxy.close()]);
  }

  test('an operator of one customer sees and changes what a proxy has that knows no other one', async () => {
    const events = fc.array(event, { minLength: 10, maxLength: 25 });
    await fc.assert(fc.asyncProperty(events, fc.constantFrom('viewer', 'admin'), runCase), {
      numRuns: CASES,
      endOnFailure: true,
    });
  });
}

const LISTS = ({ objects }: Worlds) => [
  '/keys',
  '/instances',
  '/connections',
  '/subscriptions',
  '/approvals',
  '/jobs',
  '/audit',
  ...objects.a.subscriptions.map((name) => `/subscriptions/${name}/deliveries`),
];

/** Reads all pages of a list, one item each, with the cursors of each proxy. Numbers of records tell nothing. */
async function walk({ whole, part, copyRecords: _ }: Worlds, path: string, token: string): Promise<void> {
  const pages = async (world: Worlds['whole']) => {
    const found: Json[] = [];
    let cursor = '';
    do {
      const { status, json } = await world.get(`${path}?limit=1${cursor}`, { token });
      // A list of an object that a question has removed.
      if (status === 404) return [{ status }];
      found.push(...json.items);
      cursor = json.next === null ? '' : `&cursor=${json.next}`;
    } while (cursor !== '');
    return found;
  };
  const [seen, expected] = [await pages(whole), await pages(part)];
  const clean = ({ seq: _, ...item }: Json) => item;
  const shape = (items: Json[]) => items.map((item) => Object.keys(clean(item)).toSorted().join());
  expect(shape(seen)).toEqual(shape(expected));
  if (path !== '/audit') return;
  for (const { seq } of seen) {
    expect(seq).toBeGreaterThan(10_000);
    const { json } = await whole.get(`/audit/${seq}`, { token });
    expect(json.seq).toBe(seq);
  }
}
