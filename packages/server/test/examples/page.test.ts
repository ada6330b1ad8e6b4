/**
 * Tests the web page of examples/ with a publishable key of its origin. Its script runs here with a few elements in
 * place of a document, and in Chromium where that is installed.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HAS_CHROMIUM, openInChromium } from '../chromium.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { listenOnFreePort } from '../listen.ts';
import { type Shop, startShop } from './shop.ts';

const SOURCE = readFileSync(new URL('../../../../examples/browser/index.html', import.meta.url), 'utf8');
const SHOP = 'https://shop.example.com';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

async function makeKey(origin: string, models: Record<string, string[]> = { 'product.template': ['*'] }) {
  const { key } = await shop.proxy.app.keys.create({
    name: 'page',
    policy: {
      instances: ['prod'],
      models,
      fields: { 'product.template': { allow: ['name', 'list_price'] } },
      read_only: true,
      cors_origins: [origin],
      publishable: true,
    },
  });
  return key;
}

const adapt = (key: string) => SOURCE.replace('http://127.0.0.1:8787', shop.proxy.url).replace('ep_…', key);

/** Runs the script of the page as a browser at `origin` does, as far as the page needs it. */
async function openPage(key: string, origin: string) {
  const makeElement = () => ({
    items: [] as { textContent: string }[],
    textContent: '',
    hidden: false,
    disabled: false,
    click: async () => {},
    append(item: { textContent: string }) {
      this.items.push(item);
    },
    addEventListener(_: string, listener: () => Promise<void>) {
      this.click = listener;
    },
  });
  const elements = { '#products': makeElement(), '#status': makeElement(), '#more': makeElement() };
  const document = {
    querySelector: (selector: keyof typeof elements) => elements[selector],
    createElement: () => ({ textContent: '' }),
  };
  const fetchFromPage = async (url: string, init: RequestInit) => {
    const response = await fetch(url, { ...init, headers: { ...init.headers, origin } });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')).toMatch(/retry-after/i);
    return response;
  };
  const [, script] = /<script type="module">([\s\S]*)<\/script>/.exec(adapt(key)) ?? [];
  const run = Object.getPrototypeOf(async () => {}).constructor('document', 'fetch', script);
  await run(document, fetchFromPage);
  return { products: elements['#products'], status: elements['#status'], more: elements['#more'] };
}

test('shows all products, page by page, each once', async () => {
  const { products, status, more } = await openPage(await makeKey(SHOP), SHOP);
  expect(products.items).toHaveLength(5);
  expect(products.items[0]?.textContent).toBe('Restaurant Expenses: 14.00');
  for (let pages = 1; !more.hidden && pages < 10; pages++) await more.click();
  const names = products.items.map(({ textContent }) => textContent);
  expect([names.length, new Set(names).size]).toEqual([17, 17]);
  expect(status.textContent).toBe('These are all products.');
});

test('says why it shows nothing: another origin, another model, an unknown key', async () => {
  const show = async (key: string, origin = SHOP) => (await openPage(key, origin)).status.textContent;
  expect(await show(await makeKey(SHOP), 'https://evil.example.net')).toContain(
    'may not do that: cors_origins',
  );
  expect(await show(await makeKey(SHOP, { 'res.country': ['*'] }))).toContain('may not do that: models');
  expect(await show('ep_unknown')).toContain('(unauthorized)');
});

test.skipIf(!HAS_CHROMIUM)('works in Chromium (skipped where it is not installed)', async () => {
  let source = '';
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(source);
  });
  closeAfterTest(server);
  const origin = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  source = adapt(await makeKey(origin));
  const page = closeAfterTest(await openInChromium(origin));
  const count = "document.querySelectorAll('li').length";
  await page.waitFor(`${count} === 5`);
  expect(await page.evaluate("document.querySelector('li').textContent")).toBe('Restaurant Expenses: 14.00');
  await page.evaluate("document.querySelector('#more').click()");
  await page.waitFor(`${count} === 10`);
});
