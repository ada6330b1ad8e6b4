/** Tests that questions in open answers have bounds, and end. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { AGREE } from './stage.ts';

/** Time limit of a call, which its header gives. */
const CALL_SECONDS = 2;
const LONGER_THAN_A_CALL_MS = 1100 * CALL_SECONDS;

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'call_method',
    arguments: { model: 'sale.order', method: 'action_confirm', ids: [3] },
  },
};

/**
 * Starts a proxy with an Odoo that never answers `action_confirm`. `concurrency`: the limit in the policy of the key.
 */
async function startAsking(concurrency: number) {
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const { args = [] } = JSON.parse(body.toString()).params ?? {};
      if (args[4] !== 'action_confirm')
        answerLikeOdoo(socket, printResult('[{"id": 3, "display_name": "S3"}]'));
    }),
  );
  const settings = {
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'upstream.protocol': 'jsonrpc',
  };
  const proxy = closeAfterTest(await startProxy({ settings }));
  const instance = { name: 'prod', url: upstream.url, db: 'odoo', user_id: 2, api_key: 'key' };
  await proxy.app.instances.add({ ...instance, allow_private: true });
  const policy = { instances: ['prod'], models: { '*': ['*'] }, concurrency };
  const { key } = await proxy.app.keys.create({ name: 'agent', policy });
  const url = `${proxy.url}/mcp`;
  const headers = { ...HEADERS, 'x-proxy-api': key };
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const begin = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const begun = await send(url, { method: 'POST', headers, body: begin });
  const session = String(begun.headers['mcp-session-id']);
  return {
    /** Sends the call, and resolves with the first event of its answer. */
    async call() {
      const leave = new AbortController();
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'mcp-session-id': session, 'x-request-timeout': String(CALL_SECONDS) },
        body: JSON.stringify(CALL),
        signal: leave.signal,
      });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      const { value = '' } = await reader.read();
      const first = /^data: (.*)$/m.exec(value)?.[1] ?? value;
      const readRest = async () => {
        let rest = '';
        for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
        return rest;
      };
      return { first, readRest, leave: () => leave.abort() };
    },
    async answer(question: string) {
      const { id } = JSON.parse(question);
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: AGREE });
      return (await send(url, { method: 'POST', headers, body })).status;
    },
  };
}

test('the call after a yes has the time limit of a call, and the wait for the person has not', async () => {
  const { call, answer } = await startAsking(4);
  const asked = await call();
  expect(asked.first).toContain('elicitation/create');
  await pause(LONGER_THAN_A_CALL_MS);
  expect(await answer(asked.first)).toBe(202);
  expect(await asked.readRest()).toContain('upstream_timeout');
});

test('questions leave a place for their answers, also if they are asked at once', async () => {
  const { call, answer } = await startAsking(3);
  const calls = await Promise.all([call(), call(), call()]);
  const asked = calls.filter(({ first }) => first.includes('elicitation/create'));
  expect(calls.map(({ first }) => first).join('\n')).toContain('approval_required');
  expect(asked).toHaveLength(2);
  for (const { first } of asked) expect(await answer(first)).toBe(202);
  for (const { leave } of asked) leave();
});

test('a question whose client has left makes room for another', async () => {
  const { call } = await startAsking(2);
  (await call()).leave();
  await expect.poll(async () => (await call()).first).toContain('elicitation/create');
});
