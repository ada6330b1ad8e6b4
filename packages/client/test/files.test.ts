/** Tests `download` and `upload` of a model: bytes, rights, and short failures of Odoo. */
import { randomBytes } from 'node:crypto';
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

test('a file comes back as it was uploaded, with its name and type', async () => {
  const file = randomBytes(300_000);
  const attachments = client.model('ir.attachment');
  const id = await attachments.upload('datas', new Uint8Array(file), {
    values: { name: 'Größe.pdf', mimetype: 'application/pdf' },
  });
  const response = await attachments.download(id, 'datas');
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('content-disposition')).toContain("filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf");
  expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true);
  const other = new Blob(['other']);
  expect(await attachments.upload('datas', other, { id })).toBe(id);
  expect(await (await attachments.download(id, 'datas')).text()).toBe('other');
});

test('a file that is JSON is a file, and an error is thrown', async () => {
  const attachments = client.model('ir.attachment');
  const values = { name: 'a.json', mimetype: 'application/json' };
  const id = await attachments.upload('datas', new Blob(['{"error": 1}']), { values });
  expect(await (await attachments.download(id, 'datas')).json()).toEqual({ error: 1 });
  await expect(attachments.download(999_999, 'datas')).rejects.toMatchObject({ type: 'record_missing' });
  await expect(attachments.download(id, 'name')).rejects.toMatchObject({ type: 'invalid_params' });
  await expect(attachments.upload('nmae', new Blob(['x']), { id })).rejects.toMatchObject({
    type: 'query_invalid',
  });
});

test('the rights of the key hold', async () => {
  const { key } = await gateway.proxy.app.keys.create({
    name: 'reader',
    policy: { origins: [gateway.odoo.url], models: { 'ir.attachment': ['*'] } },
  });
  const attachments = gateway.connect({ key }).model('ir.attachment');
  const denied = { type: 'policy_denied' };
  await expect(attachments.download(1, 'datas')).rejects.toMatchObject(denied);
  await expect(attachments.upload('datas', new Blob(['x']), { id: 1 })).rejects.toMatchObject(denied);
});

test('a download and an upload are tried again, and an upload runs once', async () => {
  const seen: { url: string; key: string | undefined }[] = [];
  const flaky = gateway.connect({
    fetch: async (url, init) => {
      const headers = init.headers as Record<string, string>;
      seen.push({ url: new URL(url).pathname, key: headers['idempotency-key'] });
      const response = await fetch(url, init);
      if (seen.length % 2 === 0) return response;
      // Simulates an answer that is lost on its way.
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    },
  });
  const attachments = flaky.model('ir.attachment');
  const named = [['name', '=', 'Once']] as const;
  const id = await attachments.upload('datas', new Blob(['once']), { values: { name: 'Once' } });
  expect(await (await attachments.download(id, 'datas')).text()).toBe('once');
  expect(seen.map(({ url }) => url)).toEqual([
    '/api/erp/upload',
    '/api/erp/upload',
    '/api/erp/download',
    '/api/erp/download',
  ]);
  expect(seen[0]!.key).toBe(seen[1]!.key);
  expect(await client.model('ir.attachment').count(named)).toBe(1);
});

test('hooks see a download, and a signal ends it', async () => {
  const events: string[] = [];
  const hooked = createClient({
    url: gateway.proxy.url,
    key: gateway.proxy.key,
    instance: 'none',
    hooks: {
      onRequest: ({ calls }) => events.push(`request ${calls[0]?.action}`),
      onResponse: ({ status }) => events.push(`response ${status}`),
    },
  });
  const attachments = hooked.model('ir.attachment');
  await expect(attachments.download(1, 'datas')).rejects.toThrow();
  expect(events).toEqual(['request download', 'response 400']);
  const signal = AbortSignal.abort(new Error('stop'));
  await expect(attachments.download(1, 'datas', { signal })).rejects.toThrow('stop');
});
