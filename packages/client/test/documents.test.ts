/** Tests `document` of a model: a PDF, an archive, and errors. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';

let gateway: Gateway;
let client: Client;
beforeAll(async () => {
  gateway = await startGateway(18);
  client = gateway.connect();
});
afterAll(() => gateway.close());

test('a record is a PDF, and several are an archive', async () => {
  const orders = client.model('sale.order');
  const pdf = await orders.document(1, { report: 'sale.action_report_saleorder' });
  expect(pdf.headers.get('content-disposition')).toContain('Quotation-S00001.pdf');
  expect(await pdf.text()).toMatch(/^%PDF-/);
  const archive = await orders.document([1, 2]);
  expect(archive.headers.get('content-type')).toBe('application/zip');
  expect((await archive.text()).slice(0, 2)).toBe('PK');
});

test('errors are thrown, and nothing is taken for a document', async () => {
  const orders = client.model('sale.order');
  await expect(orders.document(99_999)).rejects.toMatchObject({ type: 'record_missing' });
  await expect(orders.document(1, { report: 'no.report' })).rejects.toMatchObject({ type: 'invalid_params' });
  await expect(client.withContext({ lang: 'xx_XX' }).model('sale.order').document(1)).rejects.toMatchObject({
    message: expect.stringContaining('`lang`'),
  });
});

test('hooks see a document', async () => {
  const events: string[] = [];
  const { userId, apiKey } = gateway.odoo.users.admin;
  const watched = createClient({
    url: gateway.proxy.url,
    key: gateway.proxy.key,
    instance: { url: gateway.odoo.url, db: gateway.odoo.db, userId, apiKey },
    hooks: {
      onRequest: ({ calls }) => void events.push(`request ${calls[0]!.action}`),
      onResponse: ({ status }) => void events.push(`response ${status}`),
    },
  });
  await watched.model('sale.order').document(1);
  expect(events).toEqual(['request document', 'response 200']);
});
