/** Checks every page while its code, its data, or the question whether there is a session is loading. */
import type { BrowserContext, Page, Route } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeAfterFile, closeAfterTest } from '../../server/test/close-after-test.ts';
import { type HostileProxy, startHostileProxy } from './hostile-proxy.ts';
import { PATIENCE_MS, shareChromium } from './launch-chromium.ts';
import { HAS_CHROMIUM, listSeriousFindings } from './open-console.ts';
import { ADMIN_TOKEN } from './seed-proxy.ts';
import { waitForDrawing } from './visit-pages.ts';

/** A route handler that never answers. */
const hold = (_route: Route) => undefined;

/** Each test visits a part of the pages, because all of them take some minutes on a busy machine. */
const PARTS = 4;

describe.skipIf(!HAS_CHROMIUM)('every page is accessible while it waits', () => {
  let proxy: HostileProxy;
  let context: BrowserContext;
  let found: Set<string>;
  /** Number of pages seen that show a loading state. */
  let loading = 0;

  beforeAll(async () => {
    proxy = closeAfterFile(await startHostileProxy());
  });
  beforeEach(async () => {
    const browser = await shareChromium();
    context = closeAfterTest(await browser.newContext({ reducedMotion: 'reduce' }));
    context.setDefaultTimeout(PATIENCE_MS);
    found = new Set();
  });

  async function signIn(): Promise<void> {
    await context.request.post(`${proxy.url}/admin/v1/session`, {
      data: { token: ADMIN_TOKEN },
      headers: { origin: proxy.url },
    });
  }

  async function visit(name: string, open: (page: Page) => Promise<void>): Promise<void> {
    const page = await context.newPage();
    await open(page);
    await inspect(name, page);
    await page.close();
  }

  async function inspect(name: string, page: Page): Promise<void> {
    await waitForDrawing(page);
    loading += await page.getByRole('status', { name: /are loading$/ }).count();
    for (const finding of await listSeriousFindings(page)) found.add(`${name}: ${finding}`);
  }

  test('for its session, its code, or the answer to an action', async () => {
    const { url, paths } = proxy;
    await visit('session', async (page) => {
      await page.route('**/admin/v1/session', hold);
      await page.goto(url);
      await page.getByRole('status', { name: 'Loading', exact: true }).waitFor();
    });
    await signIn();
    await visit('code', async (page) => {
      await page.goto(`${url}/start`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.route('**/*.js', hold);
      await page.getByRole('link', { name: 'Subscriptions' }).click();
      await page.getByRole('status', { name: 'Loading', exact: true }).waitFor();
    });
    await visit('a running call', async (page) => {
      await page.route('**/admin/v1/execute', hold);
      await page.goto(url + paths['playground-answer']);
      await page.getByRole('button', { name: 'Run', exact: true, disabled: false }).click();
      await page.getByRole('status', { name: 'The call is running' }).waitFor();
    });
    await visit('a running check', async (page) => {
      await page.route('**/admin/v1/instances/*/check', hold);
      await page.goto(`${url}/instances/prod`);
      await page.getByRole('button', { name: /^Check/ }).click();
      await page.getByRole('status').getByText('Checking…').waitFor();
    });
    expect([...found]).toEqual([]);
  });

  test.each(Array.from({ length: PARTS }, (_, part) => part))('for its data (part %i)', async (part) => {
    await signIn();
    const paths = Object.entries(proxy.paths).filter((_, index) => index % PARTS === part);
    const page = await context.newPage();
    await page.route(/\/admin\/v1\/(?!session)/, hold);
    await page.goto(proxy.url);
    for (const [name, path] of paths) {
      // Navigates like a click on a link, without reloading the document.
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.getByRole('main').waitFor();
      await page.getByRole('status', { name: 'Loading', exact: true }).waitFor({ state: 'detached' });
      await inspect(name, page);
    }
    expect([...found]).toEqual([]);
    // At least the lists of calls, keys, subjects, instances, subscriptions and approvals show it.
    if (part === PARTS - 1) expect(loading).toBeGreaterThanOrEqual(6);
  });
});
