/** Tests what clients of ODXProxy need in an answer: one test for each need. */
import { describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { unpack } from '../take-answer.ts';
import { startGateway, startOdoo, startScripted } from './gateway.ts';

const EXECUTE = '/api/odoo/execute';

/** Checks an answer as the strictest clients do. */
function expectEnvelope(json: Record<string, unknown>): void {
  const { jsonrpc, id, ...rest } = json;
  expect(jsonrpc).toBe('2.0');
  expect(id === null || typeof id === 'string').toBe(true);
  expect(Object.keys(rest)).toHaveLength(1);
  if ('result' in rest) return;
  const { code, message, data } = rest['error'] as Record<string, unknown>;
  expect(Number.isInteger(code) && Math.abs(code as number) < 2 ** 31 && code !== 0).toBe(true);
  expect(message).toMatch(/./);
  expect(typeof data === 'object' && !Array.isArray(data)).toBe(true);
}

describe.each([14, 15, 16, 17, 18, 19, 22] as const)('in front of Odoo %i', (version) => {
  test('an answer has jsonrpc, id and either result or error, whose code is a 32-bit integer other than 0 and whose data is an object', async () => {
    const { post, makeCall, instance } = await startOdoo(version);
    const calls = [
      makeCall(),
      makeCall({ action: 'read', params: [[1], ['no_such_field']] }),
      makeCall({ action: 'no_such_method' }),
      makeCall({ action: '_private' }),
      makeCall({ model_id: 'no.such.model' }),
      makeCall({ action: 'write', params: [[999_999], { name: 'x' }] }),
      makeCall({ odoo_instance: { ...instance, api_key: 'f'.repeat(40) } }),
      makeCall({ odoo_instance: { ...instance, user_id: 99 } }),
      makeCall({ odoo_instance: { ...instance, db: 'missing' } }),
      makeCall({ keyword: 'x' }),
      'not JSON',
      7,
    ];
    for (const call of calls) expectEnvelope((await post(EXECUTE, call)).json);
  });

  test('create returns a number for a dict, and a list for a list', async () => {
    const { post, makeCall } = await startOdoo(version);
    const create = async (values: unknown) =>
      (await post(EXECUTE, makeCall({ action: 'create', params: [values] }))).json.result;
    expect(await create({ name: 'One' })).toEqual(expect.any(Number));
    expect(await create([{ name: 'Two' }])).toEqual([expect.any(Number)]);
    expect(await create([{ name: 'Three' }, { name: 'Four' }])).toHaveLength(2);
  });

  test('None becomes "result": null', async () => {
    const { post, makeCall } = await startOdoo(version);
    const created = await post(EXECUTE, makeCall({ action: 'create', params: [{ name: 'Old' }] }));
    const { json } = await post(
      EXECUTE,
      makeCall({ action: 'action_archive', params: [[created.json.result]] }),
    );
    expectEnvelope(json);
    expect(json.result ?? null).toBe(null);
    expect('result' in json).toBe(true);
  });
});

describe('error codes', () => {
  test.each([
    ['400, -32001 for an action that cannot be called', { action: '_write' }, 400, -32001, 'action_invalid'],
    ['400, -32002 if fn_name is missing', { action: 'call_method' }, 400, -32002, 'fn_name_missing'],
    ['400, -32602 for an invalid value', { keyword: { limit: -1 } }, 400, -32602, 'invalid_params'],
  ])('%s', async (_, changes, status, code, type) => {
    const { post, makeCall } = await startOdoo(19);
    const answer = await post(EXECUTE, makeCall(changes));
    expect([answer.status, answer.json.error.code, answer.json.error.data.type]).toEqual([
      status,
      code,
      type,
    ]);
  });

  test('504, -32003 if there is no answer in time', async () => {
    const { post, call } = await startScripted(() => {});
    const { status, json } = await post(EXECUTE, call, { 'x-request-timeout': '1' });
    expect([status, json.error.code, json.error.data.type]).toEqual([504, -32003, 'upstream_timeout']);
  });

  test('502, -32004 if the server closes the connection', async () => {
    const { post, call } = await startScripted((socket) => {
      socket.resetAndDestroy();
    });
    const { status, json } = await post(EXECUTE, { ...call, action: 'write' });
    expect([status, json.error.code, json.error.data.type]).toEqual([502, -32004, 'upstream_unreachable']);
  });

  test('500, -32005 for an answer that is not from Odoo; 502 on our own route', async () => {
    const { post, proxy, call } = await startScripted((socket) => answerLikeOdoo(socket, '<html>'));
    const { status, json } = await post(EXECUTE, call);
    expect([status, json.error.code, json.error.data.type]).toEqual([500, -32005, 'upstream_bad_response']);
    expect(json.error.message).toContain('`odoo_instance.url`');
    const { odoo_instance, ...rest } = call;
    expect((await proxy.call({ ...rest, erp_instance: odoo_instance })).status).toBe(502);
  });

  test('502, -32004 with the type egress_denied for a refused address, whether or not its port is open', async () => {
    const { post, proxy } = await startGateway([]);
    for (const url of ['http://127.0.0.1:1', 'https://10.0.0.1', 'http://[::1]:8069']) {
      const odoo_instance = { url, db: 'prod', user_id: 2, api_key: 'x' };
      const { status, json } = await post(EXECUTE, { id: '1', action: 'read', model_id: 'a', odoo_instance });
      expect(status).toBe(502);
      expect(json.error).toMatchObject({
        code: -32004,
        data: { type: 'egress_denied', path: 'odoo_instance.url', retryable: false },
      });
      for (const path of ['/api/odoo/version', '/v2/odoo/version']) {
        const version = await post(path, { id: '1', url });
        expect([version.status, version.json.error.code]).toEqual([502, -32004]);
        expect(version.json.error.data).toMatchObject({ type: 'egress_denied', path: 'url' });
      }
    }
    const own = await proxy.call({
      action: 'read',
      model_id: 'a',
      erp_instance: { url: 'http://127.0.0.1:1', db: 'prod', user_id: 2, api_key: 'x' },
    });
    expect(own.status).toBe(403);
  });

  test.each([
    ['429', 503],
    ['503', 503],
  ])('an upstream that answers %s becomes 503 with its retry-after', async (said, status) => {
    const { post, call } = await startScripted((socket) => {
      socket.end(`HTTP/1.0 ${said} No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n`);
    });
    const answer = await post(EXECUTE, call);
    expect([answer.status, answer.json.error.code]).toEqual([status, -32013]);
    expect(answer.headers['retry-after']).toBe('7');
  });

  test('code 0 of Odoo 19 is replaced', async () => {
    const fault = {
      code: 0,
      message: 'Odoo Server Error',
      data: { name: 'builtins.ValueError', message: 'No' },
    };
    const { post, call } = await startScripted((socket) =>
      answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error: fault })),
    );
    const { status, json } = await post(EXECUTE, call);
    expect([status, json.error.code]).toEqual([200, 200]);
  });
});

test.each(['gzip', 'br', 'deflate'])('an answer is compressed with %s on request', async (encoding) => {
  const text = JSON.stringify('x'.repeat(20_000));
  const { proxy, upstream, call } = await startScripted((socket) =>
    answerLikeOdoo(socket, printResult(text)),
  );
  const answer = await send(`${proxy.url}${EXECUTE}`, {
    method: 'POST',
    headers: { 'x-api-key': proxy.key, 'content-type': 'application/json', 'accept-encoding': encoding },
    body: JSON.stringify(call),
  });
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(unpack(encoding, answer.body).toString()).toBe(`{"jsonrpc":"2.0","id":"1","result":${text}}`);
  expect(upstream.requests).toHaveLength(1);
});
