/** `POST /api/erp/document` on the sandbox: rights of the key, archives of several records, limits, each version. */
import type { Policy } from '@erp-proxy/contract';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/index.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { readInFlight } from '../read-in-flight.ts';

let sandbox: Sandbox;
let proxy: RunningProxy;

beforeAll(async () => {
  sandbox = await startSandbox({ version: 18 });
  proxy = await startProxy({ allow: [sandbox.url] });
});
afterAll(async () => {
  await proxy.close();
  await sandbox.close();
});

interface Asker {
  key?: string;
  odoo?: Sandbox;
  user?: 'admin' | 'demo';
  at?: RunningProxy;
}

function ask(
  body: object,
  { key, odoo = sandbox, user = 'admin', at = proxy }: Asker = {},
): Promise<HttpAnswer> {
  const { userId, apiKey } = odoo.users[user];
  const instance = { url: odoo.url, db: odoo.db, user_id: userId, api_key: apiKey };
  return send(`${at.url}/api/erp/document`, {
    method: 'POST',
    headers: { 'x-proxy-api': key ?? at.key, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 7, model_id: 'sale.order', erp_instance: instance, ...body }),
  });
}

const readError = ({ body }: HttpAnswer) => JSON.parse(body.toString()).error;

async function makeKey(policy: Partial<Policy>): Promise<string> {
  const whole: Policy = {
    origins: [sandbox.url],
    models: { 'sale.order': ['read'] },
    data: ['documents'],
    ...policy,
  };
  return (await proxy.app.keys.create({ name: 'documents', policy: whole })).key;
}

test.each([14, 15, 16, 17, 18, 19] as const)('Odoo %s gives a quotation', async (version) => {
  const odoo = closeAfterTest(await startSandbox({ version }));
  const at = closeAfterTest(
    await startProxy({ allow: [odoo.url], settings: { 'upstream.protocol': 'auto' } }),
  );
  const got = await ask({ record: 1 }, { odoo, at });
  expect(got.status).toBe(200);
  expect(got.headers['content-disposition']).toBe('attachment; filename="Quotation-S00001.pdf"');
  expect(got.body.toString('latin1')).toMatch(/^%PDF-[\s\S]*Quotation S00001/);
});

test('several records come as an archive, in the order of the request', async () => {
  const got = await ask({ records: [4, 1, 2] });
  expect(got.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="sale_order.zip"',
  });
  const files = unzipSync(new Uint8Array(got.body));
  expect(Object.keys(files)).toEqual(['Order-S00004.pdf', 'Quotation-S00001.pdf', 'Quotation-S00002.pdf']);
  for (const file of Object.values(files))
    expect(Buffer.from(file).toString('latin1')).toMatch(/^%PDF-.*%%EOF\n$/s);
  expect(await readInFlight(proxy.url)).toBe(0);
});

test('an archive with a record that does not exist is an error as a whole', async () => {
  const got = await ask({ records: [1, 99_999] });
  expect(got.headers['content-type']).toContain('application/json');
  expect(readError(got)).toMatchObject({ data: { type: 'record_missing' } });
});

test('an archive of a report that cannot be had is an error as a whole', async () => {
  const got = await ask({ records: [1, 2], report: 'sale.action_report_pro_forma_invoice' });
  expect(got.status).toBe(400);
  expect(readError(got)).toMatchObject({ data: { type: 'invalid_params', path: 'report' } });
});

test.each<[string, Partial<Policy>, object]>([
  ['no `documents` in `data`', { data: ['files', 'export'] }, { rule: 'data' }],
  ['another model', { models: { 'res.partner': ['read'] } }, { rule: 'models' }],
  [
    'no `read`',
    { models: { 'sale.order': ['search_read', 'get_portal_url'] } },
    { rule: 'models["sale.order"]' },
  ],
  ['rules for fields of this model', { fields: { 'sale.order': { deny: ['note'] } } }, { rule: 'fields' }],
  ['rules for fields of another model', { fields: { 'res.partner': { deny: ['vat'] } } }, { rule: 'fields' }],
  ['another server', { origins: ['https://erp.example.com'] }, {}],
])('a policy with %s gives no document, and asks Odoo nothing', async (_name, policy, expected) => {
  const before = sandbox.requests.total;
  const got = await ask({ record: 1 }, { key: await makeKey(policy) });
  expect(got.status).toBe(403);
  expect(readError(got).data).toMatchObject({ type: 'policy_denied', ...expected });
  expect(sandbox.requests.total).toBe(before);
});

test('a policy that asks for the approval of reads gives no document, and asks nobody', async () => {
  const key = await makeKey({ approve: { 'sale.order': ['read'] } });
  const error = readError(await ask({ record: 1 }, { key }));
  expect(error).toMatchObject({ data: { type: 'policy_denied' } });
  expect(error.message).toContain('cannot be approved one by one');
});

test('`read` of the model and `documents` are enough, also for a key that only reads', async () => {
  const key = await makeKey({ read_only: true });
  expect((await ask({ record: 1 }, { key })).body.toString('latin1')).toMatch(/^%PDF-/);
  expect((await ask({ records: [1, 2] }, { key })).headers['content-type']).toBe('application/zip');
});

test('the companies of a policy hold', async () => {
  const key = await makeKey({ companies: [2] });
  expect(readError(await ask({ record: 1 }, { key }))).toMatchObject({ data: { type: 'access_error' } });
});

test('an archive of more records than the policy allows in one call is refused, and says why', async () => {
  const key = await makeKey({ limit_max: 1 });
  expect((await ask({ record: 1 }, { key })).status).toBe(200);
  const refused = await ask({ records: [1, 2] }, { key });
  expect([refused.status, readError(refused)]).toMatchObject([
    403,
    {
      message: 'This key may read at most 1 records a call: send fewer in `records`.',
      data: { type: 'policy_denied', path: 'records' },
    },
  ]);
});

test('each document of an archive counts for the limits of its key, and one too many breaks it off', async () => {
  const key = await makeKey({ per_day: 3 });
  await expect(ask({ records: [1, 2, 3] }, { key })).rejects.toThrow();
  const got = await ask({ record: 1 }, { key });
  expect(got.status).toBe(429);
});

test('a user of Odoo who may not read orders gets no document', async () => {
  expect(readError(await ask({ record: 1 }, { user: 'demo' }))).toMatchObject({
    data: { type: 'access_error' },
  });
});

test('an unknown model is refused with near names', async () => {
  expect(readError(await ask({ model_id: 'sale.ordre', record: 1 }))).toMatchObject({
    data: { type: 'model_not_found', nearest: expect.arrayContaining(['sale.order']) },
  });
});
