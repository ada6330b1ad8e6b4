/** Every page while it loads: its code, its data, and the question whether there is a session. */
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { startHostileProxy } from './hostile-proxy.ts';
import { launchChromium } from './launch-chromium.ts';
import { HAS_CHROMIUM, listSeriousFindings } from './open-console.ts';
import { ADMIN_TOKEN } from './seed-proxy.ts';
import { DRAWING_MS } from './visit-pages.ts';

/** A request that is never answered. */
const hold = (_route: Route) => undefined;

test.skipIf(!HAS_CHROMIUM)(
  'every page is accessible while it waits for its session, its code and its data',
  { timeout: 300_000 },
  async () => {
    const { url, paths } = closeAfterTest(await startHostileProxy());
    const browser = closeAfterTest(await launchChromium());
    const context = closeAfterTest(await browser.newContext({ reducedMotion: 'reduce' }));
    context.setDefaultTimeout(20_000);
    const found = new Set<string>();
    let loading = 0;
    const inspect = async (name: string, page: Page) => {
      await page.waitForTimeout(DRAWING_MS);
      loading += await page.getByRole('status', { name: /are loading$/ }).count();
      for (const finding of await listSeriousFindings(page)) found.add(`${name}: ${finding}`);
    };
    const visit = async (name: string, open: (page: Page) => Promise<void>) => {
      const page = await context.newPage();
      await open(page);
      await inspect(name, page);
      await page.close();
    };

    await visit('session', async (page) => {
      await page.route('**/admin/v1/session', hold);
      await page.goto(url);
      await page.getByRole('status', { name: 'Loading', exact: true }).waitFor();
    });
    await context.request.post(`${url}/admin/v1/session`, {
      data: { token: ADMIN_TOKEN },
      headers: { origin: url },
    });
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
    for (const [name, path] of Object.entries(paths)) {
      await visit(name, async (page) => {
        await page.route(/\/admin\/v1\/(?!session)/, hold);
        await page.goto(url + path);
        await page.getByRole('main').waitFor();
        await page.getByRole('status', { name: 'Loading', exact: true }).waitFor({ state: 'detached' });
      });
    }
    expect([...found]).toEqual([]);
    // The lists of calls, keys, subjects, instances, subscriptions and approvals, at least.
    expect(loading).toBeGreaterThanOrEqual(6);
  },
);
