import type { EgressAnswer, EgressDispatcher, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import { describe, expect, test } from 'vitest';
import { ENDLESS_MS, runLater } from '../../../server/test/time.ts';
import type { MethodCall } from '../terms/method-call.ts';
import type { Target } from '../terms/target.ts';
import { Servers } from './servers.ts';

const never = new AbortController().signal;
const target: Target = {
  origin: 'https://erp.example.com',
  pathPrefix: '/odoo',
  db: 'prod',
  userId: 2,
  apiKey: 'k'.repeat(40),
  trust: null,
  instance: null,
  connection: null,
  credentialsId: 'one',
};
const call = { model: 'res.partner', method: 'fly' } as MethodCall;

type Answer = [status: number, body: string, type?: string];
const NO_PAGE: Answer = [404, '<html>', 'text/html'];
const version = (serie: string) =>
  `{"jsonrpc": "2.0", "id": 1, "result": {"server_version": "x", "server_version_info": [], "server_serie": "${serie}"}}`;

type Given = Answer | EgressFailure;

/** Servers whose answers are given by path. All other paths answer with a 404 page. */
function startServers(
  answers: Record<string, Given | ((signal: AbortSignal) => Promise<Given>)>,
  bytesMax = 10_000,
) {
  const clock = { nowMs: 1_000 };
  const asked: EgressRequest[] = [];
  const egress: EgressDispatcher = {
    check: () => null,
    close: async () => {},
    async send(request, { signal }) {
      asked.push(request);
      const given = answers[request.path] ?? NO_PAGE;
      const answer = typeof given === 'function' ? await given(signal) : given;
      if (!Array.isArray(answer)) return answer;
      const [status, body, type = 'application/json'] = answer;
      const pieces = [Buffer.from(body)];
      const whole = { ok: true, status, headers: { 'content-type': type }, bodyLength: null } as const;
      return { ...whole, body: { next: async () => pieces.shift() ?? null, cancel() {} } } as EgressAnswer;
    },
  };
  const options = { egress, nowMs: () => clock.nowMs, timeoutMs: ENDLESS_MS, bytesMax };
  return { servers: new Servers(options), asked, clock, answers };
}

describe('the protocols of a server', () => {
  test.each<[string, Record<string, Answer>, unknown]>([
    ['Odoo 18', { '/odoo/jsonrpc': [200, version('18.0')] }, { jsonrpc: true, json2: false }],
    ['Odoo 19', { '/odoo/jsonrpc': [200, version('19.0')] }, { jsonrpc: true, json2: true }],
    [
      'a version of Odoo Online',
      { '/odoo/jsonrpc': [200, version('saas~19.2')] },
      { jsonrpc: true, json2: true },
    ],
    [
      'a version without a number',
      { '/odoo/jsonrpc': [200, version('master')] },
      { jsonrpc: true, json2: false },
    ],
    [
      'a server that does not tell its version',
      { '/odoo/jsonrpc': [200, '{"jsonrpc": "2.0", "id": 1, "error": {}}'] },
      { jsonrpc: true, json2: false },
    ],
    [
      'Odoo 22',
      { '/odoo/json/2/res.users/context_get': [200, '{"uid": 2}'] },
      { jsonrpc: false, json2: true },
    ],
    [
      'Odoo 22 that refuses the key',
      {
        '/odoo/json/2/res.users/context_get': [
          401,
          '{"name": "werkzeug.exceptions.Unauthorized", "message": "Invalid apikey", "arguments": []}',
        ],
      },
      { jsonrpc: false, json2: true },
    ],
    ['another program', {}, { jsonrpc: false, json2: false }],
  ])('%s', async (_, answers, protocols) => {
    const { servers } = startServers(answers);
    expect(await servers.findProtocols(target, never)).toEqual(protocols);
  });

  test('are asked for again after a failure, and soon after an answer of another program', async () => {
    const failure: EgressFailure = { ok: false, reason: 'refused', sent: false, detail: 'down' };
    const { servers, answers, clock } = startServers({ '/odoo/jsonrpc': failure });
    expect(await servers.findProtocols(target, never)).toEqual({ failure: failure });
    answers['/odoo/jsonrpc'] = NO_PAGE;
    expect(await servers.findProtocols(target, never)).toEqual({ jsonrpc: false, json2: false });
    answers['/odoo/jsonrpc'] = [200, version('19.0')];
    expect(await servers.findProtocols(target, never)).toEqual({ jsonrpc: false, json2: false });
    clock.nowMs += 5_001;
    expect(await servers.findProtocols(target, never)).toEqual({ jsonrpc: true, json2: true });
  });

  test('are kept by address and path, for all databases and credentials', async () => {
    const { servers, asked } = startServers({ '/odoo/jsonrpc': [200, version('19.0')] });
    await servers.findProtocols(target, never);
    await servers.findProtocols({ ...target, db: 'other', credentialsId: 'two' }, never);
    expect(asked).toHaveLength(1);
    await servers.findProtocols({ ...target, pathPrefix: '/other' }, never);
    expect(asked.map(({ path }) => path)).toContain('/other/jsonrpc');
  });
});

test.each<[string, Record<string, Answer>, string]>([
  ['a server about which nothing is known', {}, 'possible'],
  ['Odoo 15', { '/odoo/jsonrpc': [200, version('15.0')] }, 'known'],
  ['Odoo 16', { '/odoo/jsonrpc': [200, version('16.0')] }, 'none'],
  [
    'a server that only supports json2',
    {
      '/odoo/json/2/res.users/context_get': [
        401,
        '{"name": "x.Unauthorized", "message": "no", "arguments": []}',
      ],
    },
    'none',
  ],
])('the lockout of %s', async (_, answers, lockout) => {
  const { servers } = startServers(answers);
  expect(servers.findLockout(target)).toBe('possible');
  await servers.findProtocols(target, never);
  expect(servers.findLockout(target)).toBe(lockout);
});

test('a server that is slow to say that it lacks /jsonrpc is waited for once a call has failed over it', async () => {
  const lateMs = 1_100;
  const { servers } = startServers({
    '/odoo/jsonrpc': (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () =>
          resolve({ ok: false, reason: 'aborted', sent: true, detail: 'aborted' }),
        );
        runLater(lateMs, () => resolve(NO_PAGE));
      }),
    '/odoo/json/2/res.users/context_get': [200, '{"uid": 2}'],
  });
  // Calls wait a second for a version, and then use /jsonrpc.
  expect(await servers.findProtocols(target, never)).toMatchObject({ jsonrpc: true });
  servers.recordContradiction('jsonrpc_missing', target, call);
  expect(await servers.findProtocols(target, never)).toEqual({ jsonrpc: false, json2: true });
});

test('a failure over json2 counts for the same method, database or server, and for a limited time', () => {
  const { servers, clock } = startServers({});
  const other = { ...target, db: 'other' };
  const findFailures = () => [
    servers.hasFailedOverJson2(target, 'res.partner', 'fly'),
    servers.hasFailedOverJson2(target, 'res.partner', 'read'),
    servers.hasFailedOverJson2(other, 'res.partner', 'fly'),
  ];
  servers.recordContradiction('jsonrpc_missing', target, call);
  expect(findFailures()).toEqual([false, false, false]);
  servers.recordContradiction('signature', target, call);
  expect(findFailures()).toEqual([true, false, false]);
  servers.recordContradiction('database', target, call);
  expect(findFailures()).toEqual([true, true, false]);
  servers.recordContradiction('json2_missing', target, call);
  expect(findFailures()).toEqual([true, true, true]);
  clock.nowMs += 600_001;
  expect(findFailures()).toEqual([false, false, false]);
});

test('a refused key is checked again, a confirmed one is not', async () => {
  const path = '/odoo/json/2/res.users/context_get';
  const { servers, answers, asked } = startServers({ [path]: [200, '{"uid": 3}'] });
  expect(await servers.confirmUser(target, never)).toMatchObject({ data: { type: 'access_denied' } });
  answers[path] = [200, '{"uid": 2}'];
  expect(await servers.confirmUser(target, never)).toBe('confirmed');
  expect(await servers.confirmUser(target, never)).toBe('confirmed');
  expect(asked).toHaveLength(2);
});

test('the fault for a refused key does not contain the key', async () => {
  const refusal = { name: 'odoo.exceptions.AccessDenied', message: `no ${target.apiKey}`, arguments: [] };
  const { servers } = startServers({
    '/odoo/json/2/res.users/context_get': [403, JSON.stringify(refusal)],
  });
  const fault = await servers.confirmUser(target, never);
  expect(fault).toMatchObject({ data: { name: refusal.name } });
  expect(JSON.stringify(fault)).not.toContain(target.apiKey);
});

test('keeps only the status of an answer that does not name the user of the key', async () => {
  const { servers } = startServers({ '/odoo/json/2/res.users/context_get': [200, '{"large": true}'] });
  expect(await servers.confirmUser(target, never)).toEqual({ unconfirmed: { status: 200, headers: {} } });
});

test('large doc pages evict each other from the cache', async () => {
  const names = Array.from({ length: 190 }, (_, index) => `a${index}`);
  const method = {
    signature: `(${names.join(', ')})`,
    parameters: Object.fromEntries(names.map((name) => [name, {}])),
  };
  const methods = JSON.stringify(
    Object.fromEntries(Array.from({ length: 2_700 }, (_, index) => [`m${index}`, method])),
  );
  const page = (model: string): Answer => [200, `{"model": "${model}", "methods": ${methods}}`];
  const { servers, asked } = startServers(
    { '/odoo/doc-bearer/one.json': page('one'), '/odoo/doc-bearer/two.json': page('two') },
    64 * 1024 * 1024,
  );
  for (const model of ['one', 'two', 'two', 'one'])
    expect(await servers.findSignature(target, model, 'm1', never)).toBeDefined();
  expect(asked.map(({ path }) => path)).toEqual(
    ['one', 'two', 'one'].map((model) => `/odoo/doc-bearer/${model}.json`),
  );
});
