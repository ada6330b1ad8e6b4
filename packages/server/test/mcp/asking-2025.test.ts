/**
 * Tests clients of the protocol of 2025 over HTTP: a person is asked in the open answer of the call, and any `Accept`
 * is fine.
 */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { AGREE, EACH_VERSION, type Stage, startStage } from './stage.ts';

const CONFIRM = { model: 'sale.order', method: 'action_confirm', ids: [3] };
const MODEL = 'sale.order';

async function readState({ call }: Stage) {
  const { data } = await call('read_records', { model: MODEL, ids: [3], fields: ['state'] });
  return data.records[0].state;
}

test.each(EACH_VERSION)(
  'a person is asked, and a yes runs the call: Odoo %i over %s',
  async (version, protocol) => {
    const stage = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const questions: string[] = [];
    const answer = (message: string) => {
      questions.push(message);
      return AGREE;
    };
    const client = await stage.connect({ mode: 'legacy', answer });
    const done = await stage.call('call_method', CONFIRM, client);
    expect(done.isError, done.text).toBe(false);
    expect(questions).toEqual([
      expect.stringMatching(/^Confirm one quotation of sale\.order on prod: “S00003”/),
    ]);
    expect(await readState(stage)).toBe('sale');
    // A read asks no person.
    expect((await stage.call('read_records', { model: MODEL, ids: [3] }, client)).isError).toBe(false);
    expect(questions).toHaveLength(1);
  },
);

test.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { confirm: false } }])(
  'a person who says %j is obeyed',
  async (said) => {
    const stage = await startStage();
    const client = await stage.connect({ mode: 'legacy', answer: () => said });
    const { isError, text } = await stage.call('call_method', CONFIRM, client);
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringMatching(/^A person was asked and did not agree\. Nothing was changed\./),
    });
    expect(await readState(stage)).not.toBe('sale');
  },
);

test('a record that is renamed while a person reads is asked about again', async () => {
  const stage = await startStage();
  const questions: string[] = [];
  const client = await stage.connect({
    mode: 'legacy',
    answer: async (message) => {
      questions.push(message);
      if (questions.length === 1)
        await stage.call('update_records', { model: 'res.partner', ids: [10], values: { name: 'Other' } });
      return AGREE;
    },
  });
  const done = await stage.call('delete_records', { model: 'res.partner', ids: [10] }, client);
  expect(questions, done.text).toHaveLength(2);
  expect(questions[1]).toContain('Other');
});

test.each(['legacy', 'modern'] as const)(
  'a yes does not run a call that the policy denies by then, or whose key is revoked: %s',
  async (mode) => {
    const stage = await startStage();
    const { keys } = stage.proxy.app;
    const allow = (methods: string[]) => ({ instances: ['prod'], models: { 'res.partner': methods } });
    const changes = [
      (id: string, version: number) =>
        keys.update(id, version, { policy: allow(['read', 'search_read', 'fields_get']) }),
      // After a revocation, a client of 2025 could not even send the person's answer: its request would be refused.
      ...(mode === 'modern' ? [(id: string) => keys.revoke(id)] : []),
    ];
    for (const change of changes) {
      const { key, record } = await keys.create({ name: 'narrowed', policy: allow(['*']) });
      let questions = 0;
      const client = await stage.connect({
        mode,
        key,
        answer: async () => {
          questions++;
          await change(record.id, record.version);
          return AGREE;
        },
      });
      const done = stage.call('delete_records', { model: 'res.partner', ids: [10] }, client);
      const text = await done.then(
        (result) => (result.isError ? result.text : 'done'),
        (error: Error) => error.message,
      );
      expect(text).toMatch(/^policy_denied: |^Unknown tool: |"unauthorized"/);
      expect(questions).toBe(1);
    }
    const { data } = await stage.call('read_records', { model: 'res.partner', ids: [10], fields: ['name'] });
    expect(data.records).toHaveLength(1);
  },
);

test('a client that cannot show questions, and one whose answer is an error, need an administrator', async () => {
  const stage = await startStage();
  const client = await stage.connect({ mode: 'legacy' });
  expect((await stage.call('call_method', CONFIRM, client)).text).toMatch(/^approval_required: /);
  const failing = await stage.connect({
    mode: 'legacy',
    answer: () => {
      throw new Error('no window');
    },
  });
  expect((await stage.call('call_method', CONFIRM, failing)).text).toMatch(/^approval_required: /);
});

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends a message to the proxy, with the headers of a client of 2025. */
async function post({ proxy }: Stage, message: object, more: Record<string, string> = {}, path = '/mcp') {
  const headers = { ...HEADERS, 'x-proxy-api': proxy.key, ...more };
  return send(`${proxy.url}${path}`, { method: 'POST', headers, body: JSON.stringify(message) });
}

async function openSession(stage: Stage, key: string): Promise<string> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const { headers } = await post(stage, message, { 'x-proxy-api': key });
  return String(headers['mcp-session-id']);
}

test('another key can neither use the session nor answer the question', async () => {
  const stage = await startStage();
  const other = await stage.createKey({ instances: ['prod'], models: { '*': ['*'] } });
  const session = await openSession(stage, stage.proxy.key);
  expect(session).toMatch(/^[\w-]+\.[\w-]+$/);
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'call_method', arguments: CONFIRM },
  };
  for (const id of [session, 'x', `${session}x`, '.']) {
    const foreign = await post(stage, call, { 'x-proxy-api': other, 'mcp-session-id': id });
    expect(foreign.body.toString()).toContain('approval_required: ');
  }
  const headers = { ...HEADERS, 'x-proxy-api': stage.proxy.key, 'mcp-session-id': session };
  const response = await fetch(`${stage.proxy.url}/mcp`, {
    method: 'POST',
    headers,
    body: JSON.stringify(call),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = await reader.read();
  const { id, method } = JSON.parse(/^data: (.*)$/m.exec(value)?.[1] ?? '{}');
  expect(method).toBe('elicitation/create');
  const answer = { jsonrpc: '2.0', id, result: AGREE };
  expect((await post(stage, answer, { 'x-proxy-api': other })).status).toBe(202);
  expect((await post(stage, { ...answer, result: { action: 'decline' } })).status).toBe(202);
  // Only the first answer of the right key counts.
  expect((await post(stage, answer)).status).toBe(202);
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
  expect(rest).toContain('did not agree');
});

test.each([
  undefined,
  '*/*',
  'application/json',
  'text/html, */*;q=0.8',
  'application/json, text/event-stream',
])('every revision is answered for Accept: %s, also at /mcp/', async (accept) => {
  const stage = await startStage();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const key = { 'x-proxy-api': stage.proxy.key, 'content-type': 'application/json' };
  const takesEvents = accept?.includes('event-stream') === true;
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
    const isModern = revision.startsWith('2026');
    for (const method of ['tools/list', 'tools/call', 'tools/call']) {
      const params = {
        ...(method === 'tools/call' ? { name: 'get_context', arguments: {} } : {}),
        ...(isModern ? { _meta: meta } : {}),
      };
      const headers = {
        ...key,
        ...(accept === undefined ? {} : { accept }),
        'mcp-protocol-version': revision,
        ...(isModern ? { 'mcp-method': method } : {}),
        ...(isModern && method === 'tools/call' ? { 'mcp-name': 'get_context' } : {}),
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      for (const path of ['/mcp', '/mcp/']) {
        const answer = await send(`${stage.proxy.url}${path}`, { method: 'POST', headers, body });
        const text = answer.body.toString();
        expect({ revision, status: answer.status, text }).toMatchObject({ status: 200 });
        if (takesEvents) continue;
        expect(answer.headers['content-type']).toBe('application/json');
        expect(JSON.parse(text)).toMatchObject({ id: 7, result: expect.any(Object) });
      }
    }
  }
});
