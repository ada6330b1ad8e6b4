/** Tests of the page Overview. */
import { expect, test } from 'vitest';
import { expectToStay } from '../../server/test/time.ts';
import { expectAccessible, HAS_CHROMIUM, type OpenConsole, openConsole } from './open-console.ts';

/** Longer than any refresh interval of the page. */
const LONGER_THAN_REFRESH_MS = 60_000;
const READ = { action: 'search_read', model_id: 'res.partner', params: [[]], keyword: { limit: 1 } };

async function makeCalls({ proxy, addInstance }: OpenConsole): Promise<void> {
  await addInstance();
  const instance = { erp_instance: { name: 'prod' } };
  for (let count = 0; count < 3; count++) await proxy.call({ ...READ, ...instance });
  await proxy.call({ ...READ, ...instance, model_id: 'no.such.model' });
}

test.skipIf(!HAS_CHROMIUM)('a fresh proxy leads to the first steps', async () => {
  const { page } = await openConsole();
  await page.getByText('No call has been made yet').waitFor();
  expect(await page.getByRole('link', { name: 'Get started' }).getAttribute('href')).toBe('/start');
  await page.getByText('Nothing at present.').waitFor();
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)('says that not all instances were looked at', async () => {
  const { page, proxy, addInstance, goto } = await openConsole({ path: '/keys' });
  await addInstance();
  const server = { url: 'https://erp.example.com', db: 'prod', user_id: 2, api_key: 'unused' };
  for (let index = 0; index < 2_000; index++) await proxy.app.instances.add({ ...server, name: `i${index}` });
  await goto('/');
  await page.getByText('Looked at in part only: instances.').waitFor();
  await page.getByText('Nothing in what was looked at.').waitFor();
});

test.skipIf(!HAS_CHROMIUM)('shows calls as plots, as tables, and by group with links to them', async () => {
  // The minute in which all calls are made.
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  const opened = await openConsole({ path: '/keys', clock: () => minute });
  const { page, goto } = opened;
  await makeCalls(opened);
  await goto('/');
  const calls = page.getByRole('region', { name: 'Calls of each minute' });
  await calls
    .getByRole('img', { name: /^Calls of each minute\. Failed: .*Succeeded: at most 3, at / })
    .waitFor();
  await calls.getByText('Values as a table').click();
  // One row for each minute of the last hour.
  const rows = calls.getByRole('table').getByRole('row');
  await expect.poll(() => rows.count()).toBeGreaterThan(59);
  await page.getByRole('img', { name: /^Errors by type\. model_not_found: at most 1/ }).waitFor();

  const servers = page.getByRole('table', { name: 'Odoo databases' });
  await servers.getByText('closed').waitFor();
  await servers.getByRole('link', { name: 'prod' }).waitFor();
  await expectAccessible(page);

  await page.getByRole('table', { name: 'Models' }).getByRole('link', { name: 'res.partner' }).click();
  await page.getByRole('heading', { name: 'Calls' }).waitFor();
  await page.getByRole('button', { name: 'Model: res.partner' }).waitFor();
  await expect.poll(() => page.getByText('res.partner.search_read').count()).toBe(3);
});

test.skipIf(!HAS_CHROMIUM)('what needs attention leads to the page that resolves it', async () => {
  const { ask, page, goto, sandbox } = await openConsole({ path: '/keys' });
  await ask('POST', '/instances', {
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: sandbox.users.admin.userId,
    api_key: sandbox.users.admin.apiKey,
    key_expires_at: new Date(Date.now() + 2 * 86_400_000).toISOString(),
  });
  await goto('/');
  const link = page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('link', { name: 'instance prod' });
  expect(await link.getAttribute('href')).toBe('/instances/prod');
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)(
  'keeps the range and the pause in its address, and reads nothing while paused',
  async () => {
    const opened = await openConsole({ path: '/keys' });
    const { page, goto } = opened;
    await makeCalls(opened);
    await page.clock.install();
    await goto('/?range=24h');
    await page.getByRole('heading', { name: 'Calls of each hour' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/^Paused at/).waitFor();

    const readings: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/admin/v1/stats')
        readings.push(`${searchParams.get('step')} ${searchParams.get('by')}`);
    });
    await page.reload();
    await page.getByText(/^Paused at/).waitFor();
    expect(await page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('Last day by hour');
    await page.getByRole('img', { name: /^Calls of each hour/ }).waitFor();
    const once = ['hour action', 'hour instance', 'hour key', 'hour model', 'hour null', 'minute null'];
    await expect.poll(() => readings.toSorted()).toEqual(once);
    await page.clock.fastForward(LONGER_THAN_REFRESH_MS);
    await expectToStay(() => readings.toSorted(), once);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => readings.length).toBeGreaterThan(6);
  },
);

test.skipIf(!HAS_CHROMIUM)('reads nothing while its tab is hidden', async () => {
  const { page, goto } = await openConsole({ path: '/keys' });
  await page.clock.install();
  await goto('/');
  await page.getByText('No call has been made yet').waitFor();
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
    window.dispatchEvent(new Event('visibilitychange'));
  `);
  const readings: string[] = [];
  page.on('request', (request) => readings.push(request.url()));
  await page.clock.fastForward(LONGER_THAN_REFRESH_MS);
  // One request may already have been under way.
  await expectToStay(() => readings.length <= 1, true);
  await page.evaluate(`
    delete document.visibilityState;
    window.dispatchEvent(new Event('visibilitychange'));
  `);
  await expect.poll(() => readings.filter((url) => url.includes('/stats')).length).toBeGreaterThan(1);
});

test.skipIf(!HAS_CHROMIUM).each([
  [360, 'light'],
  [360, 'dark'],
  [2_560, 'dark'],
] as const)('fits a screen of %i px, %s', async (width, colorScheme) => {
  const opened = await openConsole({ path: '/keys', width, colorScheme });
  const { page, goto } = opened;
  await makeCalls(opened);
  await goto('/');
  await page.getByRole('img', { name: /^Calls of each minute/ }).waitFor();
  await page.getByRole('table', { name: 'Models' }).waitFor();
  await expectAccessible(page);
});
