/** Tests exports that are refused, with errors that name the member and say what to do. */
import { PROXY_ERRORS, type ProxyErrorType } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { runExport, startSandboxStage, startTableStage } from './export-stage.ts';

const MILLION = 1_000_000;

const REFUSED: [name: string, changes: object, path: string, type?: ProxyErrorType][] = [
  ['no fields', { fields: undefined }, 'fields'],
  ['null as fields', { fields: null }, 'fields'],
  ['a text as fields', { fields: 'name,email' }, 'fields'],
  ['an empty list of fields', { fields: [] }, 'fields'],
  ['a number as a field', { fields: ['name', 3] }, 'fields[1]'],
  ['a field twice', { fields: ['name', 'email', 'name'] }, 'fields[2]'],
  ['a path as a field', { fields: ['country_id.name'] }, 'fields[0]'],
  ['a field with a quote', { fields: ['na"me'] }, 'fields[0]'],
  ['a field with a line break', { fields: ['name\r\nx'] }, 'fields[0]'],
  ['a field of a megabyte', { fields: ['x'.repeat(MILLION)] }, 'fields[0]'],
  ['50,000 fields', { fields: Array.from({ length: 50_000 }, (_, index) => `f${index}`) }, 'fields'],
  ['a text as a domain', { domain: '[["a", "=", 1]]' }, 'domain'],
  ['an object as a domain', { domain: {} }, 'domain'],
  ['a negative limit', { limit: -1 }, 'limit', 'invalid_params'],
  ['a fraction as limit', { limit: 1.5 }, 'limit', 'invalid_params'],
  ['a text as limit', { limit: '10' }, 'limit', 'invalid_params'],
  ['a fraction as after', { after: 1.5 }, 'after'],
  ['a text as after', { after: '10' }, 'after'],
  ['a boolean as after', { after: false }, 'after'],
  ['an unknown format', { format: 'xlsx' }, 'format'],
  ['a number as format', { format: 1 }, 'format'],
  ['a delimiter of NDJSON', { delimiter: ';' }, 'delimiter'],
  ['a byte order mark of NDJSON', { format: 'ndjson', bom: false }, 'bom'],
  ['a letter as delimiter', { format: 'csv', delimiter: 'x' }, 'delimiter'],
  ['a quote as delimiter', { format: 'csv', delimiter: '"' }, 'delimiter'],
  ['two delimiters', { format: 'csv', delimiter: ';;' }, 'delimiter'],
  ['a number as delimiter', { format: 'csv', delimiter: 59 }, 'delimiter'],
  ['a text as bom', { format: 'csv', bom: 'yes' }, 'bom'],
  ['a number as escape_formulas', { format: 'csv', escape_formulas: 0 }, 'escape_formulas'],
  ['no model', { model_id: undefined }, 'model_id'],
  ['an unknown member', { offset: 5 }, 'offset'],
];

test('refuses a body of more than a mebibyte', async () => {
  const stage = await startTableStage({ count: 3 });
  const answer = await stage.export({ domain: [['name', '=', 'x'.repeat(1_100_000)]] });
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.text).error.message).toBe('The body may have 1 MiB.');
});

test.each(REFUSED)('refuses %s', async (_name, changes, path, type = 'invalid_request') => {
  const stage = await startTableStage({ count: 3 });
  const answer = await stage.export({ id: 'mine', ...changes });
  expect(answer.status).toBe(400);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(JSON.parse(answer.text)).toMatchObject({
    id: 'mine',
    error: { code: PROXY_ERRORS[type].code, data: { type, path } },
  });
  expect(stage.calls).toEqual([]);
});

test('refuses an `after` that no number can hold', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 3 });
  const text = JSON.stringify({ ...body, after: 0 }).replace('"after":0', '"after":99999999999999999999');
  const answer = await runExport(proxy, text);
  expect(JSON.parse(answer.text).error.data).toMatchObject({ type: 'invalid_request', path: 'after' });
  expect(calls).toEqual([]);
});

test('a body that is not JSON, or an array', async () => {
  const { proxy } = await startTableStage({ count: 3 });
  expect(JSON.parse((await runExport(proxy, '{"a"')).text).error.data.type).toBe('parse_error');
  expect(JSON.parse((await runExport(proxy, '[]')).text).error.data.type).toBe('invalid_request');
});

test('errors about the context and the server name the members of this route', async () => {
  const { export: run } = await startTableStage({ count: 3 });
  const context = JSON.parse((await run({ context: { tz: 'Mars/Olympus' } })).text);
  expect(context.error).toMatchObject({
    message: expect.stringMatching(/^`context\.tz`/),
    data: { type: 'invalid_params', path: 'context.tz' },
  });
  const server = JSON.parse((await run({ erp_instance: { name: 5 } })).text);
  expect(server.error.data).toMatchObject({ type: 'invalid_request', path: 'erp_instance.name' });
});

test.each([
  ['an unknown member', { offset: 5 }],
  ['keyword in place of the members', { keyword: { fields: ['name'] } }],
  ['a condition as the domain', { domain: ['name', '=', 'x'] }],
  ['a number in the domain', { domain: [5] }],
  ['a context of a wrong type', { context: 5 }],
  ['a member of the context twice', '"context":{"lang":"en_US","lang":"en_US"}'],
  ['a time zone that there is not', { context: { tz: 'Mars/Olympus' } }],
  ['an unknown field', { fields: ['nmae'] }],
  ['a denied field', { fields: ['email'] }],
  ['a denied field in the domain', { domain: [['email', '=', 'x']] }],
  ['a denied path in the domain', { domain: [['parent_id.email', '=', 'x']] }],
  ['a domain that cannot be checked', { domain: [[['email', '=', 'x']]] }],
  ['a denied company', { context: { allowed_company_ids: [9] } }],
])('an error about %s speaks of no call that the export makes', async (_name, wrong) => {
  const { proxy } = await startSandboxStage();
  const policy = {
    ...{ instances: ['prod'], origins: ['*'], data: ['export' as const], companies: [1] },
    ...{ models: { 'res.partner': ['search_read'] }, fields: { 'res.partner': { deny: ['email'] } } },
  };
  const { key } = await proxy.app.keys.create({ name: 'limited', policy });
  const body = { erp_instance: { name: 'prod' }, model_id: 'res.partner', fields: ['name'] };
  const text = JSON.stringify({ ...body, ...(typeof wrong === 'string' ? {} : wrong) });
  const sent = typeof wrong === 'string' ? text.replace(/\}$/, `,${wrong}}`) : text;
  const answers = [await runExport({ url: proxy.url, key }, sent), await runExport(proxy, sent)];
  // The key without a policy may do more than the limited key, so its export need not be refused.
  const refused = answers.filter(({ text: printed }) => printed.includes('"error":'));
  expect(refused).toContain(answers[0]);
  for (const { text: refusal } of refused) {
    const { data } = JSON.parse(refusal).error;
    expect(data.type).toMatch(/^(invalid_request|invalid_params|query_invalid|policy_denied|access_error)$/);
    expect(refusal).not.toMatch(/keyword\.|`params|params\[|of a call/);
  }
});

test("Odoo's own errors come before the first record, with the id of the body", async () => {
  const { export: run } = await startSandboxStage();
  const field = await run({ id: 7, fields: ['name', 'nmae'] });
  expect(field.headers['content-type']).toBe('application/json');
  expect(JSON.parse(field.text)).toMatchObject({ id: 7, error: { data: { type: 'query_invalid' } } });
  const model = await run({ id: 8, model_id: 'res.partnerr', fields: ['name'] });
  expect(JSON.parse(model.text)).toMatchObject({ id: 8, error: { data: { type: 'model_not_found' } } });
  for (const domain of [['|', ['name', '=', 'x']], [['name', 'is like', 'x']], ['!'], [5]]) {
    const broken = await run({ id: 9, domain, fields: ['name'] });
    expect([domain, JSON.parse(broken.text)]).toMatchObject([
      domain,
      { id: 9, error: { data: { type: 'query_invalid' } } },
    ]);
  }
});
