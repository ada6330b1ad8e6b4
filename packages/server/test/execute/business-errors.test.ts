/**
 * docs/errors.md#errors-of-odoo: an error of Odoo has the same code and type in every version, and shows no internals.
 */
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, makeCall } from '../scripted-upstream.ts';
import { waitFor } from './expectations.ts';

const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19];

/** For each mistake: the call, its user, and the type of the error. */
const MISTAKES: Record<
  string,
  { call: Record<string, unknown>; type: string; user?: 'demo'; instance?: object }
> = {
  'a wrong key': { call: {}, instance: { api_key: 'wrong' }, type: 'access_denied' },
  'an unknown user': { call: {}, instance: { user_id: 4711 }, type: 'access_denied' },
  'a wrong database': { call: {}, instance: { db: 'nowhere' }, type: 'database_missing' },
  'a database that is not of Odoo': { call: {}, instance: { db: 'x_not_odoo' }, type: 'database_missing' },
  'an unknown model': { call: { model_id: 'no.such.model' }, type: 'model_not_found' },
  'an unknown method': { call: { action: 'no_such_method' }, type: 'method_not_found' },
  'an unknown argument': { call: { keyword: { no_such: 1 } }, type: 'arguments_invalid' },
  'too many arguments': { call: { params: [[1], [], false, 1, 2, 3] }, type: 'arguments_invalid' },
  'no arguments': { call: { params: [] }, type: 'arguments_invalid' },
  'a field that does not exist': { call: { params: [[1], ['no_such_field']] }, type: 'query_invalid' },
  'a domain on a field that does not exist': {
    call: { action: 'search_read', params: [[['no_such_field', '=', 1]]] },
    type: 'query_invalid',
  },
  'an operator that does not exist': {
    call: { action: 'search', params: [[['name', '~~', 'x']]] },
    type: 'query_invalid',
  },
  'an order that does not exist': {
    call: { action: 'search', params: [[]], keyword: { order: 'no_such_field' } },
    type: 'query_invalid',
  },
  'a write to a record that is gone': {
    call: { action: 'write', params: [[999_999], { name: 'x' }] },
    type: 'record_missing',
  },
  'a write to a user that is gone': {
    call: { model_id: 'res.users', action: 'write', params: [[999_999], { name: 'x' }] },
    type: 'record_missing',
  },
  'an unlink of a record that is gone': {
    call: { action: 'unlink', params: [[999_999]] },
    type: 'record_missing',
  },
  'a create without a right': {
    call: { action: 'create', params: [{ name: 'x' }] },
    user: 'demo',
    type: 'access_error',
  },
  'a field that must be there': {
    call: { model_id: 'res.partner.category', action: 'create', params: [{ color: 1 }] },
    type: 'validation_error',
  },
  'a value twice': {
    call: { model_id: 'res.company', action: 'create', params: [{ name: 'YourCompany' }] },
    type: 'validation_error',
  },
  'a link to nothing': {
    call: { action: 'write', params: [[10], { country_id: 999_999 }] },
    type: 'validation_error',
  },
  'a rule of the model': {
    call: { action: 'write', params: [[10], { parent_id: 10 }] },
    type: 'validation_error',
  },
  'a partner that is sold to': { call: { action: 'unlink', params: [[10]] }, type: 'user_error' },
  'a partner with a user': { call: { action: 'unlink', params: [[3]] }, type: 'redirect_warning' },
  'a company that is not the user’s': {
    call: { keyword: { context: { allowed_company_ids: [999] } } },
    type: 'access_error',
  },
};

/** Mistakes about a name that does not exist. Their errors have the nearest names. */
const UNKNOWN_NAMES = new Set([
  'an unknown model',
  'a field that does not exist',
  'a domain on a field that does not exist',
  'an order that does not exist',
]);

const STATUS: Record<string, number> = {
  access_denied: 401,
  access_error: 403,
  record_missing: 404,
  validation_error: 422,
  user_error: 422,
  redirect_warning: 422,
  model_not_found: 404,
  method_not_found: 404,
  arguments_invalid: 422,
  query_invalid: 422,
  database_missing: 404,
};

/** Matches tracebacks, code locations, SQL, and the host of the database. */
const INTERNALS =
  /Traceback|File \\?"|\.py\b|line \d+, in|\/odoo\/|site-packages|psycopg2\.errors|SELECT |INSERT |UPDATE |127\.0\.0\.1|5432|FATAL/;

let sandboxes: Map<Version, Sandbox>;
let proxy: ErpProxy;
beforeAll(async () => {
  const started = await Promise.all(VERSIONS.map((version) => startSandbox({ version })));
  sandboxes = new Map(started.map((sandbox) => [sandbox.version, sandbox]));
  proxy = await startProxy({ allow: started.map(({ url }) => url) });
});
afterAll(async () => {
  await proxy.close();
  await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
});

function makeBody(version: Version, { call, user, instance }: (typeof MISTAKES)[string]) {
  const sandbox = sandboxes.get(version)!;
  const { userId, apiKey } = sandbox.users[user ?? 'admin'];
  return {
    id: `v${version}`,
    action: 'read',
    model_id: 'res.partner',
    params: [[1]],
    ...call,
    erp_instance: { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey, ...instance },
  };
}

describe.each(Object.entries(MISTAKES))('%s', (name, mistake) => {
  test.each(VERSIONS)('is the same in Odoo %i', async (version) => {
    const { status, headers, body, json } = await proxy.call(makeBody(version, mistake));
    expect(json.error?.data?.type, body.toString()).toBe(mistake.type);
    expect({ status, id: json.id, code: json.error.code }).toEqual({
      status: 200,
      id: `v${version}`,
      code: 200,
    });
    expect(headers['content-type']).toBe('application/json');
    expect(Object.keys(json)).toEqual(['jsonrpc', 'id', 'error']);
    expect(Object.keys(json.error)).toEqual(['code', 'message', 'data']);
    expect(json.error.data).toEqual({
      type: mistake.type,
      retryable: false,
      name: expect.any(String),
      message: expect.any(String),
      arguments: expect.any(Array),
      context: {},
      status: STATUS[mistake.type],
      ...(UNKNOWN_NAMES.has(name) && { nearest: expect.any(Array) }),
    });
    expect(json.error.message.trim()).not.toBe('');
    expect(json.error.message).not.toBe('Odoo Server Error');
    // Apart from its address, the answer must show no internals of Odoo.
    expect(body.toString().replaceAll(sandboxes.get(version)!.url, '')).not.toMatch(INTERNALS);
  });
});

test('are retryable if another transaction conflicted, for writes too', async () => {
  const data = {
    name: 'psycopg2.errors.SerializationFailure',
    debug: 'Traceback (most recent call last): do-not-show',
    message:
      'could not serialize access due to concurrent update\nCONTEXT:  SQL statement "SELECT do-not-show"',
    arguments: ['do-not-show'],
    context: {},
  };
  const error = { code: 200, message: 'Odoo Server Error', data };
  const { proxy, upstream } = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error })), {
      settings: { 'upstream.retries': '0' },
    }),
  );
  const { status, json, body } = await proxy.call(makeCall(upstream.url, { action: 'write' }));
  expect(status).toBe(200);
  expect(json.error).toMatchObject({
    code: 200,
    message: expect.stringContaining('send the call again'),
    data: { type: 'concurrency_conflict', retryable: true, status: 409 },
  });
  expect(body.toString()).not.toContain('do-not-show');
  expect(upstream.requests).toHaveLength(1);
});

test('contain no credentials of the call, whatever Odoo says', async () => {
  const { url, db, users } = sandboxes.get(18)!;
  const { json, body } = await proxy.call({
    action: 'search',
    model_id: 'res.partner',
    params: [[[users.admin.apiKey, '=', 1]]],
    erp_instance: { url, db, user_id: 2, api_key: users.admin.apiKey },
  });
  expect(json.error.data.type).toBe('query_invalid');
  expect(body.toString()).toContain('***');
  expect(body.toString()).not.toContain(users.admin.apiKey);
});

test("contain Odoo's traceback only if the operator enabled that", async () => {
  const sandbox = sandboxes.get(18)!;
  const debugging = closeAfterTest(
    await startProxy({ allow: [sandbox.url], settings: { 'errors.debug': 'true' } }),
  );
  const { json } = await debugging.call(makeBody(18, MISTAKES['a rule of the model']!));
  expect(json.error.data.debug).toContain('Traceback');
});

test('leave no message in the log', async () => {
  const logged = proxy.log.length;
  const bodies = VERSIONS.flatMap((version) =>
    Object.values(MISTAKES).map((call) => makeBody(version, call)),
  );
  for (const body of bodies) await proxy.call(body);
  await waitFor(() => proxy.log.length >= logged + bodies.length);
  // Random parts of a log line could look like a port.
  const random = { upstream: null, requestId: null, keyId: null, clientId: null, time: null, address: null };
  const text = proxy.log.map((line) => JSON.stringify({ ...line, ...random })).join('\n');
  expect(text).not.toMatch(INTERNALS);
  for (const { users } of sandboxes.values()) {
    expect(text).not.toContain(users.admin.apiKey);
    expect(text).not.toContain(users.demo.apiKey);
  }
  expect(text).not.toContain(proxy.key);
  expect(text).not.toContain('no_such_field');
});
