/** Tests the reference page at /docs: it loads nothing from other servers, and needs a key like any other page. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, printInstance } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
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

test('the page needs a key whose policy names its origin, like any other page', async () => {
  const { proxy, upstream } = closeAfterTest(await startPair());
  const call = printCall('', { erp_instance: printInstance(upstream.url) });
  const policy = { origins: [upstream.url], models: { '*': ['*'] } };
  const page = { origin: proxy.url, referer: `${proxy.url}/docs`, 'sec-fetch-site': 'same-origin' };
  for (const origins of [null, ['https://shop.example.com'], [proxy.url]]) {
    const given = { name: 'page', ...(origins ? { policy: { ...policy, cors_origins: origins } } : {}) };
    const { key } = await proxy.app.keys.create(given);
    const { status, json } = await proxy.call(call, { ...page, 'x-proxy-api': key });
    if (origins?.includes(proxy.url)) expect(status).toBe(200);
    else expect(json.error.data).toMatchObject({ type: 'policy_denied', rule: 'cors_origins' });
  }
  expect(upstream.requests).toHaveLength(1);
});
