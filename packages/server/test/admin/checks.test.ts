/** Tests checks of servers: of stored instances, and of servers that are not stored. */
import { request as httpRequest } from 'node:http';
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { answerLikeOdoo, startUpstream } from '../scripted-upstream.ts';
import { type AdminAnswer, type Json, ODOO_SECRET, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

const LINES = { headers: { accept: 'application/x-ndjson' } };

async function startWithOdoo() {
  const sandbox = closeAfterTest(await startSandbox({ version: 19 }));
  const { userId, apiKey } = sandbox.users.admin;
  const settings = { ...SETTINGS, 'upstream.protocol': 'auto' };
  const admin = await startAdmin({ settings, secrets: [apiKey] });
  const given = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey, allow_private: true };
  return { ...admin, given, apiKey };
}

function readLines({ body }: AdminAnswer): Json[] {
  return body
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Removes the times, which differ between two checks. */
function withoutTimes({ checks, round_trip_ms: _, ...rest }: Json): Json {
  return { ...rest, checks: checks.map(({ name, state }: Json) => ({ name, state })) };
}

test('checks a server that is not stored as one that is, and stores nothing', async () => {
  const { proxy, get, post, given, apiKey, listAdminActions } = await startWithOdoo();
  const draft = await post('/instances/check', given);
  expect(draft.status).toBe(200);
  expect(draft.json).toMatchObject({ ok: true, user: { id: given.user_id }, protocol: 'json2' });
  expect((await get('/instances')).json.items).toEqual([]);
  expect(await listAdminActions()).toEqual([]);
  await post('/instances', { ...given, name: 'prod' });
  const stored = await post('/instances/prod/check');
  expect(withoutTimes(draft.json)).toEqual(withoutTimes(stored.json));
  expect(JSON.stringify(proxy.log)).not.toContain(apiKey);
});

test('uses the protocol and the address rules that are given', async () => {
  const { post, given } = await startWithOdoo();
  const { json } = await post('/instances/check', { ...given, protocol: 'jsonrpc' });
  expect(json).toMatchObject({ ok: true, protocol: 'jsonrpc' });
  const denied = await post('/instances/check', { ...given, allow_private: false });
  expect(denied.json).toMatchObject({ ok: false, version: null });
  expect(denied.json.checks.at(-1)).toMatchObject({ name: 'egress', state: 'failed' });
});

test('a wrong key is found, and is in no answer', async () => {
  const { post, given } = await startWithOdoo();
  const api_key = `${ODOO_SECRET}0123456789012345678901234567`;
  const { json } = await post('/instances/check', { ...given, api_key });
  expect(json.checks.at(-1)).toMatchObject({ name: 'key', state: 'failed' });
});

test('refuses what could not be stored either', async () => {
  const { post, given } = await startWithOdoo();
  const faulty = { ...given, url: 'ftp://x', db: '', certificates: 'none', timeout_ms: 0 };
  const { status, json } = await post('/instances/check', faulty);
  const created = await post('/instances', { ...faulty, name: 'prod' });
  expect(status).toBe(400);
  expect(json.faults).toEqual(created.json.faults);
  const unknown = await post('/instances/check', { ...given, name: 'prod' });
  expect(unknown.json.faults).toEqual([{ path: 'name', message: expect.stringContaining('is not known') }]);
});

test('gives each check as a line, and the whole at the end', async () => {
  const { post, given } = await startWithOdoo();
  await post('/instances', { ...given, name: 'prod' });
  for (const [path, body] of [
    ['/instances/check', given],
    ['/instances/prod/check', undefined],
  ] as const) {
    const answer = await post(path, body, LINES);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const lines = readLines(answer);
    const { examination } = lines.at(-1);
    expect(examination.ok).toBe(true);
    expect(lines.slice(0, -1)).toEqual(examination.checks.map((check: Json) => ({ check })));
  }
});

test('sends a check before the next one has ended', async () => {
  const upstream = closeAfterTest(await startUpstream(() => {}));
  const { proxy } = await startAdmin();
  const request = httpRequest(`${proxy.url}/admin/v1/instances/check`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, application/x-ndjson;q=0.9',
    },
  });
  request.on('error', () => {});
  const given = { url: upstream.url, db: 'x', user_id: 1, api_key: 'k', allow_private: true };
  request.end(JSON.stringify(given));
  const first = await new Promise<Buffer>((resolve) =>
    request.on('response', (response) => response.once('data', resolve)),
  );
  expect(JSON.parse(first.toString().split('\n')[0] ?? '')).toEqual({
    check: { name: 'url', state: 'ok', text: upstream.url },
  });
  request.destroy();
});

test('answers a problem if nothing can be checked', async () => {
  const { post } = await startAdmin();
  const answer = await post('/instances/prod/check', undefined, LINES);
  expect(answer.status).toBe(404);
  expect(answer.json.detail).toMatch(/no instance "prod"/);
});

test.each([
  ['the version', { server_version: (text: string) => text }],
  ['the series', { server_serie: (text: string) => text }],
  ['the user', {}],
  ['a fault', { fault: (text: string) => text }],
])('a server that sends back the key, commands to a terminal and long texts: %s', async (_name, parts) => {
  const api_key = `${ODOO_SECRET}0123456789012345678901234567`;
  const text = `${api_key} \u001b[2J ${'x'.repeat(20_000)}`;
  const version = {
    server_version: '18.0',
    server_version_info: [18, 0, 0, 'final', 0, ''],
    server_serie: '18.0',
    protocol_version: 1,
  };
  const { fault, ...printed } = Object.fromEntries(
    Object.entries(parts).map(([name, print]) => [name, print(text)]),
  ) as Record<string, string>;
  const error = {
    code: 200,
    message: 'x',
    data: { name: 'odoo.exceptions.UserError', message: fault, debug: '' },
  };
  const result = [{ id: 2, name: text, login: text, company_id: [1, text] }];
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const answer = body.includes('"version"')
        ? { result: { ...version, ...printed } }
        : fault === undefined
          ? { result }
          : { error };
      answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }));
    }),
  );
  const settings = { ...SETTINGS, 'upstream.protocol': 'auto' };
  // startAdmin fails the test if an answer contains the key (admin-client.ts).
  const { post } = await startAdmin({ settings, allow: [upstream.url] });
  const { json } = await post('/instances/check', { url: upstream.url, db: 'prod', user_id: 2, api_key });
  expect(json.checks.length).toBeGreaterThan(5);
  expect(JSON.stringify(json)).not.toContain('\\u001b');
  expect(JSON.stringify(json).length).toBeLessThan(5000);
});

test('refuses more than eight checks at once, with a time to retry', async () => {
  const held: (() => void)[] = [];
  let isOpen = false;
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const answer = () => answerLikeOdoo(socket, '{}', '404 Not Found');
      // Other requests are not held: the rotation of keys asks when the key of the stored instance ends.
      if (isOpen || !body.includes('"method":"version"')) answer();
      else held.push(answer);
    }),
  );
  const { post } = await startAdmin();
  const given = {
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: `${ODOO_SECRET}1`,
    allow_private: true,
  };
  await post('/instances', { ...given, name: 'prod' });
  const checks = Array.from({ length: 8 }, () => post('/instances/check', given));
  await expect.poll(() => held.length).toBe(8);
  for (const path of ['/instances/check', '/instances/prod/check']) {
    const refused = await post(path, path.includes('prod') ? undefined : given);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.json.detail).toContain('Try again in 5 s.');
  }
  const lines = await post('/instances/check', given, LINES);
  expect(lines.status).toBe(429);
  // Each check that has ended makes room for another one.
  isOpen = true;
  for (const answer of held.splice(0)) answer();
  for (const { status } of await Promise.all(checks)) expect(status).toBe(200);
  expect((await post('/instances/check', given)).status).toBe(200);
});
