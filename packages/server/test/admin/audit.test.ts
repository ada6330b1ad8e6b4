import { type IncomingMessage, request } from 'node:http';
import { PROXY_ACTOR, SESSION_ACTOR, TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { makeCall } from '@erp-proxy/control/testing';
import { expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { send } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { type Json, startAdmin, TOKEN } from './admin-client.ts';

const CALL = { action: 'read', model_id: 'res.partner', params: [[1]], erp_instance: { name: 'missing' } };

test('lists actions and calls, newest first, by every filter', async () => {
  const { proxy, post, get } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  await proxy.call(CALL, { 'x-proxy-api': made.key });
  await proxy.app.audit.flush();
  const list = async (query: string): Promise<Json[]> =>
    (await get(`/audit?${query}`)).json.items.filter(({ action }: Json) => action !== 'login.token');
  const [call, action] = await list('');
  expect(action).toMatchObject({ kind: 'admin', action: 'key.create', actor: TOKEN_ACTOR });
  expect(call).toMatchObject({ kind: 'call', key_id: made.id });
  expect(call.seq).toBeGreaterThan(action.seq);
  for (const [name, value] of [
    ['kind', 'call'],
    ['key_id', made.id],
    ['model', call.model],
    ['outcome', call.outcome],
  ]) {
    expect(await list(`${name}=${value}`), name).toEqual([call]);
  }
  expect(await list('actor=token')).toEqual([action]);
  expect(await list('action=key.create')).toEqual([action]);
  expect(await list('instance=other')).toEqual([]);
  expect(await list('until=2001-01-01')).toEqual([]);
  expect(await list('since=2001-01-01T00:00:00Z')).toHaveLength(2);
});

test('lists and exports calls by what their records know', async () => {
  const { proxy, get } = await startAdmin();
  const { audit } = proxy.app;
  const other = {
    requestId: 'r2',
    traceId: 'b'.repeat(32),
    address: '198.51.100.7',
    upstream: 'https://other.example.com',
    db: 'test',
    outcome: 'policy_denied',
    rule: 'models',
    code: -32010,
    httpStatus: 403,
    via: 'console',
    actor: SESSION_ACTOR,
  } as const;
  audit.recordCall(makeCall({ requestId: 'r1', outcome: 'replayed' }));
  audit.recordCall(makeCall(other));
  audit.recordCall(makeCall({ requestId: 'r3' }));
  await audit.flush();
  for (const query of [
    'request_id=r2',
    `trace_id=${other.traceId}`,
    'address=198.51.100.7',
    'upstream=https://other.example.com',
    'db=test',
    'rule=models',
    'code=-32010',
    'http_status=403',
    'actor=session',
    'errors_only=true',
  ]) {
    const { items } = (await get(`/audit?kind=call&${query}`)).json;
    expect([query, items.map((item: Json) => item.request_id)]).toEqual([query, ['r2']]);
    const exported = (await get(`/audit/export?kind=call&${query}`)).body.toString();
    expect([
      query,
      exported
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ]).toEqual([query, items]);
  }
  const options = ['--errors-only', '--request-id=r2', '--address=198.51.100.7', '--code=-32010'];
  const listed = await runCommand(['audit', 'list', ...options, '--db=test', `--url=${proxy.url}`], {
    folder: makeFolder(),
    env: { ERP_PROXY_ADMIN_TOKEN: TOKEN },
  });
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('session as key1') });
  expect((await get('/audit?kind=call&errors_only=false')).json.items).toHaveLength(3);
  const faulty = await get('/audit?errors_only=yes&code=x');
  expect(faulty.json.faults.map(({ path }: Json) => path).sort()).toEqual(['code', 'errors_only']);
});

test('lists the calls of a client with all keys of its rotations', async () => {
  const { proxy, post, get } = await startAdmin();
  const { json: first } = await post('/keys', { name: 'Shop' });
  const { json: second } = await post(`/keys/${first.id}/rotate`, { overlap_seconds: 60 });
  const { json: other } = await post('/keys', { name: 'Shop' });
  expect([first.client_id, second.client_id, other.client_id]).toEqual([first.id, first.id, other.id]);
  expect((await get(`/keys/${second.id}`)).json.client_id).toBe(first.id);
  for (const { key } of [first, second, other]) await proxy.call(CALL, { 'x-proxy-api': key });
  await proxy.post('[', { 'x-proxy-api': second.key });
  await proxy.app.audit.flush();
  const { items } = (await get(`/audit?client_id=${first.id}`)).json;
  expect(items.map(({ key_id }: Json) => key_id)).toEqual([second.id, second.id, first.id]);
  expect(new Set(items.map(({ client_id }: Json) => client_id))).toEqual(new Set([first.id]));
  const logged = proxy.log.filter(({ clientId }) => clientId === first.id);
  expect(logged.map(({ keyId }) => keyId)).toEqual([first.id, second.id, second.id]);
});

test('shows one record by its number, and none that does not exist', async () => {
  const { post, get } = await startAdmin();
  await post('/keys', { name: 'Shop' });
  const { items } = (await get('/audit')).json;
  for (const item of items) expect((await get(`/audit/${item.seq}`)).json).toEqual(item);
  for (const seq of ['0', '999999999']) expect((await get(`/audit/${seq}`)).status, seq).toBe(404);
  for (const seq of ['x', '-1', '1e3', '1.5']) expect((await get(`/audit/${seq}`)).status, seq).toBe(400);
});

test('pages through the audit', async () => {
  const { post, get } = await startAdmin();
  for (let index = 0; index < 7; index++) await post('/keys', { name: `Shop ${index}` });
  const seqs: number[] = [];
  let cursor = '';
  do {
    const { json } = await get(`/audit?limit=3&action=key.create${cursor}`);
    seqs.push(...json.items.map(({ seq }: { seq: number }) => seq));
    cursor = json.next === null ? '' : `&cursor=${json.next}`;
  } while (cursor !== '');
  expect(seqs).toHaveLength(7);
  expect(seqs).toEqual(seqs.toSorted((one, other) => other - one));
});

test.each(['cursor=x', 'limit=0', 'since=yesterday', 'until=2027-02-31', 'kind=act', 'keyid=x'])(
  'refuses the list with ?%s',
  async (query) => {
    const { get } = await startAdmin();
    expect((await get(`/audit?${query}`)).status).toBe(400);
  },
);

test('exports matching records, oldest first, as lines of JSON and as CSV', async () => {
  const { proxy, post, get } = await startAdmin();
  for (let index = 0; index < 600; index++) {
    await proxy.app.audit.recordAdminAction({
      actor: PROXY_ACTOR,
      address: null,
      requestId: null,
      action: 'test',
      target: `number ${index}`,
      changes: {},
    });
  }
  await post('/keys', { name: '=1+1' });
  const ndjson = await get('/audit/export?action=test');
  expect(ndjson.status).toBe(200);
  expect(ndjson.headers['content-type']).toBe('application/x-ndjson');
  expect(ndjson.headers['content-disposition']).toContain('audit.ndjson');
  const records = ndjson.body
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
  const csv = await get('/audit/export?format=csv&actor=token&action=key.create');
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  const rows = csv.body.toString().split('\r\n');
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatch(/^seq,time,kind,/);
});

test.each(['since=yesterday', 'format=xml', 'cursor=x', 'limit=5'])(
  'refuses the export with ?%s',
  async (query) => {
    const { get } = await startAdmin();
    expect((await get(`/audit/export?${query}`)).status).toBe(400);
  },
);

/**
 * The export reads more within this time if the connection takes it. On a busy machine it may be too short, but then no
 * test fails.
 */
const STILL_MS = 200;

test('exports no faster than the client reads', async () => {
  const { proxy } = await startAdmin();
  const total = 3000;
  const text = 'x'.repeat(10_000);
  for (let index = 0; index < total; index++) {
    void proxy.app.audit.recordAdminAction({
      actor: PROXY_ACTOR,
      address: null,
      requestId: null,
      action: 'test',
      target: 'test',
      changes: { text: { from: null, to: text } },
    });
  }
  await proxy.app.audit.flush();
  let read = 0;
  const { readAfter } = proxy.app.store.audit;
  proxy.app.store.audit.readAfter = async (...given) => {
    const rows = await readAfter.apply(proxy.app.store.audit, given);
    read += rows.length;
    return rows;
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${proxy.url}/admin/v1/audit/export`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      agent: false,
    })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
  response.pause();
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = read === before;
        before = read;
        return isStill;
      },
      { interval: STILL_MS },
    )
    .toBe(true);
  expect(read).toBeLessThan(total);
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  expect(read).toBe(total);
  expect(bytes).toBeGreaterThan(total * text.length);
});

test('verifies the audit, also against an earlier head', async () => {
  const { post, get } = await startAdmin();
  for (const name of ['A', 'B', 'C']) await post('/keys', { name });
  const { json: verification } = await get('/audit/verify');
  expect(verification).toMatchObject({ intact: true, first_seq: 1, fault: null });
  expect(verification.last_seq).toBeGreaterThanOrEqual(3);
  await post('/keys', { name: 'D' });
  expect((await get(`/audit/verify?head=${verification.head}`)).json.intact).toBe(true);
  const other = verification.head.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0'));
  expect((await get(`/audit/verify?head=${other}`)).json.intact).toBe(false);
  expect((await get('/audit/verify?head=x')).status).toBe(400);
});

test('shows the state of the proxy', async () => {
  const { get } = await startAdmin();
  const { status, json } = await get('/status');
  expect(status).toBe(200);
  expect(json).toMatchObject({ store: 'memory', checks: { store: { state: 'ok' } }, audit: { lost: 0 } });
});

test('answers the export with a problem if the store fails before the first record', async () => {
  const { proxy, get } = await startAdmin();
  proxy.app.store.audit.readHead = () => {
    throw new Error('store away');
  };
  const { status, json } = await get('/audit/export');
  expect([status, json.detail]).toEqual([500, expect.not.stringContaining('store away')]);
  expect(proxy.log.some((line) => JSON.stringify(line).includes('store away'))).toBe(true);
});

test('breaks off the answer if the store fails in the middle of an export', async () => {
  const { proxy } = await startAdmin();
  for (let index = 0; index < 600; index++) proxy.app.audit.recordCall(makeCall());
  await proxy.app.audit.flush();
  const { readAfter } = proxy.app.store.audit;
  proxy.app.store.audit.readAfter = (seq, limit) => {
    if (seq > 0) throw new Error('store away');
    return readAfter.call(proxy.app.store.audit, seq, limit);
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  await expect(send(`${proxy.url}/admin/v1/audit/export`, { headers })).rejects.toThrow();
});
