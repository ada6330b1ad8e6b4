/** Operators sign in to the console by a real OpenID provider, below the path of a reverse proxy, too. */
import { expect, test } from 'vitest';
import { expectAccessible, HAS_CHROMIUM } from './open-console.ts';
import { openWithProvider } from './open-with-provider.ts';

test.skipIf(!HAS_CHROMIUM).each(['', '/tools/erp'])(
  'a person signs in, comes back to the page, and signs out, below "%s"',
  async (prefix) => {
    const { page, front } = await openWithProvider(prefix);
    await page.goto(`${front.url}/keys?search=shop`);
    await page.getByRole('link', { name: 'Sign in with corp' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(new URL(page.url())).toMatchObject({ pathname: `${prefix}/keys`, search: '?search=shop' });
    await page.getByText('ada of corp').waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.getByText('ada of corp').waitFor();
    // The provider has cookies of its own on this host.
    const cookies = (await page.context().cookies(`${front.url}/admin/v1/keys`)).filter(({ name }) =>
      name.startsWith('ep_'),
    );
    expect(cookies.map(({ name, sameSite, httpOnly }) => [name, sameSite, httpOnly])).toEqual([
      ['ep_session', 'Strict', true],
    ]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in with corp' }).waitFor();
    await page.getByLabel('Admin token').waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'a person without a role is told so, and no token is asked for without one',
  async () => {
    const { page, front, provider } = await openWithProvider('', { hasToken: false, width: 360 });
    provider.persons.set('ada', ['staff']);
    await page.goto(front.url);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
    await page.getByText('You have no role at this proxy').waitFor();
    expect(await page.getByLabel('Admin token').count()).toBe(0);
    await expectAccessible(page);
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'a session that ends keeps what was typed while the person signs in again',
  async () => {
    const { page, front } = await openWithProvider('');
    await page.goto(`${front.url}/keys`);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.context().clearCookies({ name: 'ep_session' });
    await page.getByLabel('Search keys').fill('half typed');
    await page.getByText('Your session has ended').waitFor();
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Sign in with corp' }).click(),
    ]);
    // The provider knows the person already.
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.close();
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByText('Your session has ended').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Search keys').inputValue()).toBe('half typed');
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'shows a person only what the role allows, and says so where a link leads',
  async () => {
    const { page, front, provider, ask } = await openWithProvider('', { width: 768 });
    await ask('POST', '/keys', { name: 'shop' });
    provider.persons.set('ada', ['erp-sales']);
    await page.goto(`${front.url}/keys`);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
    await page.getByRole('link', { name: 'shop' }).click();
    await page.getByRole('heading', { name: 'shop' }).waitFor();
    await page.getByText('Changing this needs the role operator.').first().waitFor();
    for (const name of ['Rotate key', 'Revoke key', 'Save'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);
    await expectAccessible(page);
    for (const path of ['/keys/new', '/playground']) {
      await page.goto(front.url + path);
      await page.getByText('This page needs the role operator; you have the role viewer.').waitFor();
    }
    await expectAccessible(page);
  },
);
