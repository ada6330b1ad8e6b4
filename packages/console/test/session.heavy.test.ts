import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ADMIN_TOKEN, expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

/** Clicks a button whose request fails, because the browser has no network in the meantime. */
async function clickOffline(page: Page, button: string): Promise<void> {
  await page.context().setOffline(true);
  // Requests of the page's own, which ask for news, fail as well, and show the same message.
  const failed = page.waitForEvent('requestfailed', (request) => request.method() !== 'GET');
  await page.getByRole('button', { name: button }).click();
  await failed;
  await page.getByText('The proxy does not answer').waitFor();
  await page.context().setOffline(false);
}

test.skipIf(!HAS_CHROMIUM)(
  'a wrong token is refused with the reason, the right one opens the page',
  async () => {
    const { page } = await openConsole({ path: '/keys?search=shop', isSignedIn: false });
    await page.getByLabel('Admin token').fill('wrong-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is not the admin token').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    // After signing in, the page of the opened link is shown.
    expect(await page.getByLabel('Search keys').inputValue()).toBe('shop');
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'the address of sign-in leads to the overview, with a session and after signing in',
  async () => {
    const { page } = await openConsole({ path: '/sign-in', isSignedIn: false });
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    const overview = page.getByRole('heading', { name: 'Overview' });
    await overview.waitFor();
    // The code of a link that is opened again must not stay in the address bar.
    await page.goto(new URL('/sign-in#code=old', page.url()).href);
    await page.reload();
    await overview.waitFor();
    expect(new URL(page.url())).toMatchObject({ pathname: '/', hash: '' });
  },
);

test.skipIf(!HAS_CHROMIUM)('a session that ends keeps what was typed', async () => {
  let now = Date.now();
  const { page } = await openConsole({ path: '/keys', clock: () => now });
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  now += 9 * 3_600_000;
  await page.getByLabel('Search keys').fill('half typed');
  await page.getByText('Your session has ended').waitFor();
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.keyboard.press('Enter');
  await page.getByText('Your session has ended').waitFor({ state: 'hidden' });
  await page.getByText('No key matches.').waitFor();
  expect(await page.getByLabel('Search keys').inputValue()).toBe('half typed');
});

test.skipIf(!HAS_CHROMIUM)('signing out shows the form again, and says if it failed', async () => {
  const { page } = await openConsole({ path: '/approvals' });
  await page.getByRole('heading', { name: 'Approvals' }).waitFor();
  await clickOffline(page, 'Sign out');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Admin token').waitFor();
  await page.reload();
  await page.getByLabel('Admin token').waitFor();
});

test.skipIf(!HAS_CHROMIUM)('without a network an action fails at once, and is not sent later', async () => {
  const { page, ask } = await openConsole({ path: '/keys/new' });
  await page.getByRole('textbox', { name: 'Name' }).fill('shop');
  await page.getByText('Everything (no policy)').click();
  await clickOffline(page, 'Create key');
  // The error stays until it is dismissed, and the input is kept.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('shop');
  expect((await ask('GET', '/keys?search=shop')).items).toEqual([]);
  await page.getByRole('button', { name: 'Create key' }).dblclick();
  await page.getByRole('dialog', { name: 'The key of shop' }).waitFor();
  // The second click must not create a second key, which nobody would see.
  expect((await ask('GET', '/keys?search=shop')).items).toHaveLength(1);
});

test.skipIf(!HAS_CHROMIUM)('signing out with unsaved input asks first', async () => {
  const { page } = await openConsole({ path: '/keys/new' });
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('half typed');
  await page.getByRole('button', { name: 'Sign out' }).click();
  const question = page.getByRole('dialog', { name: 'Sign out without saving?' });
  await question.waitFor();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Stay' }).click();
  await question.waitFor({ state: 'hidden' });
  expect(await name.inputValue()).toBe('half typed');

  // Signing out does not ask if the input is as before.
  await name.fill('');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.keyboard.press('Enter');
  await name.fill('half typed');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await question.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Admin token').waitFor();
});

test.skipIf(!HAS_CHROMIUM)('the key of a server that is not saved yet is asked about', async () => {
  const { page } = await openConsole({ path: '/start' });
  await page.getByLabel('API key').first().fill('secret of Odoo');
  await page.getByRole('link', { name: 'Instances' }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await page.getByLabel('API key').first().inputValue()).toBe('secret of Odoo');
});
