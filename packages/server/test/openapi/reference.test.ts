/** The reference page at /docs: it loads nothing from elsewhere, and may use the reader's key. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, printInstance } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import { startPair } from '../pair.ts';

const FILES = ['/docs', '/docs/reference.css', '/docs/reference.js'];

test('the page consists of files of the proxy, and may load no others', async () => {
  const proxy = closeAfterTest(await startProxy());
  for (const path of FILES) {
    const { status, headers, body } = await send(proxy.url + path);
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(body.toString()).not.toMatch(/https?:|@import|url\(|innerHTML|Storage|cookie|style=|<script>/);
  }
  const page = (await send(`${proxy.url}/docs`)).body.toString();
  const loaded = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path);
  expect(loaded.sort()).toEqual(['docs/reference.css', 'docs/reference.js', 'openapi.json']);
});

const SHOP = 'https://shop.example.com';

function describePage({ url }: ErpProxy, changes: Record<string, string> = {}): Record<string, string> {
  return { origin: url, referer: `${url}/docs`, 'sec-fetch-site': 'same-origin', ...changes };
}

test('the page may use a key without a policy, and a key for other web pages', async () => {
  const pair = closeAfterTest(await startPair());
  const { proxy, upstream } = pair;
  const policy = { origins: [upstream.url], models: { '*': ['*'] }, cors_origins: [SHOP] };
  const { key } = await proxy.app.keys.create({ name: 'shop', policy });
  const call = printCall('', { erp_instance: printInstance(upstream.url) });
  for (const used of [proxy.key, key]) {
    const page = describePage(proxy, { 'x-proxy-api': used });
    expect((await proxy.post(call, page)).status).toBe(200);
    const { 'sec-fetch-site': _, ...old } = page;
    expect((await proxy.post(call, old)).status).toBe(200);
  }
});

test.each([
  ['another page of the same origin', (proxy: ErpProxy) => ({ referer: `${proxy.url}/shop` })],
  [
    'a page of another origin',
    () => ({ origin: SHOP, referer: `${SHOP}/docs`, 'sec-fetch-site': 'cross-site' }),
  ],
  ['a page of a sibling domain', () => ({ 'sec-fetch-site': 'same-site' })],
  ['a page that names another origin', () => ({ origin: SHOP })],
  ['a page that names nothing', () => ({ referer: '' })],
])('%s may not use a key without a policy', async (_name, change) => {
  const pair = closeAfterTest(await startPair());
  const { proxy, upstream } = pair;
  const call = printCall('', { erp_instance: printInstance(upstream.url) });
  const before = upstream.requests.length;
  const answer = await proxy.call(call, describePage(proxy, change(proxy)));
  expect(answer.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'cors_origins' });
  expect(upstream.requests).toHaveLength(before);
});

test('a page of another origin without sec-fetch-site may not use a key without a policy', async () => {
  const pair = closeAfterTest(await startPair());
  const call = printCall('', { erp_instance: printInstance(pair.upstream.url) });
  const answer = await pair.proxy.post(call, { origin: SHOP, referer: `${SHOP}/docs` });
  expect(answer.status).toBe(403);
});
