/**
 * Requests that the SDK has judged before do without it (mcp/plain-calls.ts, mcp/kept-answers.ts). Each answer must be
 * the one of the SDK. A header of a session that no request had before makes a request new to the
 * proxy.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { send } from '../harness.ts';
import { countCases, IS_LONG } from '../random-cases.ts';
import { type Stage, startStage } from './stage.ts';

type Message = Record<string, unknown>;
type Headers = Record<string, string | undefined>;

interface Case {
  message: Message;
  headers: Headers;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const SEED = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31);

afterEach(() => vi.restoreAllMocks());

function makeCase(revision: '2026' | '2025', method: string, params: Message, id: unknown = 1): Case {
  const isModern = revision === '2026';
  return {
    message: {
      jsonrpc: '2.0',
      id,
      method,
      params: isModern ? { ...params, _meta: { ...META, ...(params['_meta'] as object) } } : params,
    },
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': isModern ? '2026-07-28' : '2025-11-25',
      'mcp-method': isModern ? method : undefined,
      'mcp-name': isModern && typeof params['name'] === 'string' ? params['name'] : undefined,
    },
  };
}

async function post({ proxy }: Stage, { message, headers }: Case, key = proxy.key) {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  const answer = await send(`${proxy.url}/mcp`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, ...(sent as Record<string, string>) },
    body: JSON.stringify(message),
  });
  return {
    status: answer.status,
    type: answer.headers['content-type'],
    body: answer.body.toString(),
  };
}

/** The same request with a header that no other has. Without sessions, the SDK does not look at it. */
function makeNew({ message, headers }: Case): Case {
  return { message, headers: { ...headers, 'mcp-session-id': randomUUID() } };
}

const CALL = { name: 'count_records', arguments: { model: 'crm.lead' } };

test.each(['2026', '2025'] as const)('a known client of %s needs no object of the SDK', async (revision) => {
  const stage = await startStage();
  const cases = [
    makeCase(revision, revision === '2026' ? 'server/discover' : 'ping', {}),
    makeCase(revision, 'tools/list', {}),
    makeCase(revision, 'tools/call', CALL),
  ];
  for (const one of cases) await post(stage, one);
  const made = vi.spyOn(globalThis, 'Request');
  for (const one of cases) {
    const answer = await post(stage, { ...one, message: { ...one.message, id: 'other "id"' } });
    expect(answer.body).toContain('"id":"other \\"id\\""');
  }
  expect(made).not.toHaveBeenCalled();
  const [, , call] = cases as [Case, Case, Case];
  await post(stage, makeNew(call));
  expect(made).toHaveBeenCalledTimes(1);
});

test('an answer is that of the SDK, whatever was asked before', async () => {
  const stage = await startStage();
  const limited = await stage.createKey({ instances: ['prod'], models: { 'crm.lead': ['search_count'] } });
  const random = createRandom(SEED);
  const pick = <Value>(from: readonly Value[]): Value => from[Math.floor(random() * from.length)] as Value;
  const made = vi.spyOn(globalThis, 'Request');
  let posted = 0;
  const cases = countCases(1000);
  for (let index = 0; index < cases; index++) {
    const one = mutate(pick(BASES), pick);
    const key = pick([stage.proxy.key, limited]);
    // Twice, so that the second one can be known.
    const [first, second] = [await post(stage, one, key), await post(stage, one, key)];
    const judged = await post(stage, makeNew(one), key);
    posted += 3;
    const seen = `seed ${SEED}, case ${index}: ${JSON.stringify(one)}`;
    expect(first, seen).toEqual(judged);
    expect(second, seen).toEqual(judged);
  }
  // The test is about nothing if all requests went through the SDK.
  // About seven eighths do. The share of few cases varies more.
  expect(made.mock.calls.length).toBeLessThan((IS_LONG ? 0.95 : 0.98) * posted);
});

const BASES: readonly Case[] = (['2026', '2025'] as const).flatMap((revision) => [
  makeCase(revision, 'tools/call', CALL),
  makeCase(revision, 'tools/call', CALL),
  makeCase(revision, 'tools/call', { name: 'count_records', arguments: { model: ['crm.lead'] } }),
  makeCase(revision, 'tools/call', {
    name: 'search_records',
    arguments: { model: 'crm.lead', query: 'D"e\\s\u2028' },
  }),
  makeCase(revision, 'tools/call', { name: 'describe_model', arguments: { model: 'crm.lead' } }),
  makeCase(revision, 'tools/call', { name: 'list_models' }),
  makeCase(revision, 'tools/list', {}),
  makeCase(revision, 'server/discover', {}),
  makeCase(revision, 'ping', {}),
  makeCase(revision, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }),
  makeCase(revision, 'notifications/initialized', {}),
  makeCase(revision, 'resources/list', {}),
]);

/** Changes nothing, one thing, or a few. */
function mutate(base: Case, pick: <Value>(from: readonly Value[]) => Value): Case {
  const made: Case = structuredClone(base);
  const { message, headers } = made;
  const params = message['params'] as Message;
  const meta = () => {
    params['_meta'] ??= {};
    return params['_meta'] as Message;
  };
  const changes: (() => void)[] = [
    () => (message['id'] = pick([0, -1, 2 ** 53 - 1, 2 ** 53, 1.5, '', 'é\u2028"', null, true, [1], {}])),
    () => delete message['id'],
    () => (message['jsonrpc'] = pick(['1.0', 2, undefined])),
    () => (message['extra'] = 1),
    () => (message['params'] = pick([[], null, 'text', 1])),
    () => (message['method'] = pick(['tools/call', 'tools/list', 'nothing', 1])),
    () => (params['name'] = pick(['count_records', 'nothing', 'get_context', 1, null])),
    () => (params['arguments'] = pick([null, [], 'text', { model: 1 }, { model: 'res.partner' }, { x: 1 }])),
    () => (params['arguments'] = JSON.parse('{"__proto__": {"model": "crm.lead"}}')),
    () => (params['cursor'] = pick(['x', 1])),
    () => (params['task'] = pick([{}, { ttl: 1 }, 1])),
    () => (params['requestState'] = pick(['x', 1])),
    () => (params['inputResponses'] = pick([{}, { confirm: {} }, 1])),
    () => (params['_meta'] = pick([null, [], 1, {}])),
    () => (meta()['progressToken'] = pick([1, 'x', 1.5, null, {}])),
    () => (meta()['traceparent'] = pick(['x', 1, null])),
    () => (meta()['io.modelcontextprotocol/protocolVersion'] = pick(['2025-11-25', '2030-01-01', 1])),
    () => (meta()['io.modelcontextprotocol/clientInfo'] = pick([{}, { name: 'x', version: '1' }, 1])),
    () =>
      (meta()['io.modelcontextprotocol/clientCapabilities'] = pick([
        { elicitation: {} },
        { roots: {} },
        [],
        1,
      ])),
    () => (meta()['io.modelcontextprotocol/logLevel'] = pick(['debug', 'x', 1])),
    () => delete meta()['io.modelcontextprotocol/clientCapabilities'],
    () =>
      (headers['mcp-name'] = pick([
        undefined,
        'nothing',
        'count_records',
        '=?base64?Y291bnRfcmVjb3Jkcw==?=',
      ])),
    () => (headers['mcp-method'] = pick([undefined, 'tools/call', 'tools/list'])),
    () => (headers['mcp-protocol-version'] = pick([undefined, '2025-06-18', '2026-07-28', 'x'])),
    () => (headers['accept'] = pick([undefined, '*/*', 'application/json', 'text/event-stream'])),
  ];
  const count = pick([0, 0, 1, 1, 1, 2, 3]);
  for (let index = 0; index < count; index++) {
    try {
      pick(changes)();
    } catch {
      // The change needs a member that another one has removed.
    }
  }
  return made;
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
