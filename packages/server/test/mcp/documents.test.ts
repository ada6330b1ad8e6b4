/** Tests `get_document`: the text of a document, the link to its PDF, and the rights of the key. */
import type { Policy } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { type SandboxVersion, startStage } from './stage.ts';

const PDF_START = Buffer.from('%PDF-');
const URI = 'erp-proxy:///prod/sale.order/1/document';
const ALLOWED: Policy = { instances: ['prod'], models: { 'sale.order': ['read'] }, data: ['documents'] };

describe.each([14, 16, 18, 19] as SandboxVersion[])('Odoo %i', (version) => {
  test('gives the text of a quotation, and a link by which the client reads the PDF', async () => {
    const { connect } = await startStage({ version });
    const client = await connect();
    const args = { model: 'sale.order', id: 1 };
    const result = await client.callTool({ name: 'get_document', arguments: args });
    expect(result.structuredContent).toMatchObject({
      name: 'Quotation-S00001.pdf',
      type: 'application/pdf',
      text: expect.stringContaining('Quotation S00001'),
      download: expect.stringContaining(
        'POST /api/erp/document {"model_id":"sale.order","record":1,"erp_instance":{"name":"prod"}}',
      ),
    });
    const link = {
      type: 'resource_link',
      uri: URI,
      name: 'Quotation-S00001.pdf',
      mimeType: 'application/pdf',
    };
    expect(result.content).toMatchObject([{ type: 'text' }, link]);
    const { contents } = await client.readResource({ uri: URI });
    expect(contents).toMatchObject([{ uri: URI, mimeType: 'application/pdf', blob: expect.any(String) }]);
    const { blob } = contents[0] as { blob: string };
    expect(Buffer.from(blob, 'base64').subarray(0, PDF_START.length)).toEqual(PDF_START);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'erp-proxy:///{instance}/{model}/{id}/document{?report,lang}' },
    ]);
    expect((await client.listResources()).resources).toEqual([]);
  });
});

test('an error names the reports that exist, and the record that does not', async () => {
  const { call } = await startStage();
  const order = { model: 'sale.order', id: 1 };
  const unknown = await call('get_document', { ...order, report: 'sale.action_report_saleordr' });
  expect(unknown.text).toMatch(/^invalid_params: .*`sale\.action_report_saleorder`/);
  const none = await call('get_document', { ...order, report: 'PRO-FORMA Invoice' });
  expect(none.text).toMatch(/^invalid_params: .*add an email template for `sale\.order`/);
  expect((await call('get_document', { ...order, id: 99_999 })).text).toMatch(/^record_missing: /);
  expect((await call('get_document', { ...order, lang: 'xx_XX' })).text).toMatch(/^invalid_params: `lang`/);
});

test('a document counts as a read of its record by an agent', async () => {
  const { call, proxy } = await startStage();
  await call('get_document', { model: 'sale.order', id: 1 });
  const lines = () => proxy.log.filter((line) => line['model'] === 'sale.order');
  await expect.poll(lines).toMatchObject([{ via: 'mcp', method: 'read', outcome: 'ok' }]);
});

test('without `documents` in the policy there is neither the tool nor the resource', async () => {
  const { connect, createKey, call } = await startStage();
  const denied = await connect({ key: await createKey({ ...ALLOWED, data: ['files'] }) });
  await expect(denied.callTool({ name: 'get_document', arguments: {} })).rejects.toThrow('Unknown tool');
  await expect(denied.readResource({ uri: URI })).rejects.toThrow();
  const allowed = await connect({ key: await createKey(ALLOWED) });
  expect((await call('get_document', { model: 'sale.order', id: 1 }, allowed)).data.name).toBe(
    'Quotation-S00001.pdf',
  );
  expect((await allowed.readResource({ uri: URI })).contents).toHaveLength(1);
  const other = 'erp-proxy:///prod/res.partner/1/document';
  await expect(allowed.readResource({ uri: other })).rejects.toThrow(/not/);
});

test.each([
  'erp-proxy:///prod/sale.order/0/document',
  'erp-proxy:///prod/sale.order/x/document',
  'erp-proxy:///prod/sale.order/1/other',
  'erp-proxy://host/prod/sale.order/1/document',
  'https://erp.example.com/prod/sale.order/1/document',
  'erp-proxy:///%ZZ/sale.order/1/document',
  'erp-proxy:///unknown/sale.order/1/document',
  'text',
])('refuses the resource %s', async (uri) => {
  const { connect } = await startStage();
  await expect((await connect()).readResource({ uri })).rejects.toThrow(/uri|instance/);
});
