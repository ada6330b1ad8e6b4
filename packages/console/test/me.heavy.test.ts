/** A person connects to Odoo on the pages that need no role, at three widths and with the keyboard alone. */
import { expect, test } from 'vitest';
import { addConsent } from './add-consent.ts';
import { listLayoutFaults } from './inspect-layout.ts';
import { expectAccessible, HAS_CHROMIUM } from './open-console.ts';
import { openWithProvider } from './open-with-provider.ts';

test.skipIf(!HAS_CHROMIUM).each([
  [360, ''],
  [768, '/tools/erp'],
  [1280, ''],
])('a person without a role connects, tests and removes, %i px wide, below "%s"', async (width, prefix) => {
  const { page, proxy, sandbox, front, provider } = await openWithProvider(prefix, {
    width,
    more: ({ url }) => ({ 'auth.issuers': JSON.stringify([describeIssuer(url)]) }),
  });
  provider.persons.set('ada', ['staff']);
  await proxy.app.instances.add({ name: 'prod', url: sandbox.url, db: sandbox.db, identity: 'person' });
  const check = async () => {
    await expectAccessible(page);
    expect(await listLayoutFaults(page)).toEqual([]);
  };
  await page.goto(`${front.url}/connect/prod`);
  await page.getByRole('link', { name: 'Sign in with corp' }).waitFor();
  await check();
  await page.getByRole('link', { name: 'Sign in with corp' }).click();
  await page.getByRole('link', { name: 'Continue as ada' }).click();
  await page.getByRole('heading', { name: 'Connect to prod' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`${prefix}/connect/prod`);
  await page.getByText('corp/ada').waitFor();
  await check();

  await page.getByLabel('Login').focus();
  await page.keyboard.type('demo');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0'.repeat(40));
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await check();
  await page.locator('input[type=password]').fill(sandbox.users.demo.apiKey);
  await page.keyboard.press('Enter');
  await page.getByText('Programs can call for you now').waitFor();
  expect(await page.content()).not.toContain(sandbox.users.demo.apiKey);
  await check();

  await page.getByRole('link', { name: 'All your connections' }).click();
  await page.getByRole('heading', { name: 'Your connections to Odoo' }).waitFor();
  await page.getByRole('button', { name: 'Test' }).press('Enter');
  await page.getByText('Odoo accepts the key of').waitFor();
  await check();
  await page.getByRole('button', { name: 'Remove…' }).press('Enter');
  await page.getByRole('button', { name: 'Remove it now' }).press('Enter');
  await page.getByText('You have none').waitFor();
  await check();

  const agent = { name: 'Agent', application: 'agent', address: 'https://agent.example.com' };
  await addConsent(proxy, { person: 'corp/ada', ...agent });
  await page.reload();
  await page.getByRole('heading', { name: 'Applications that act as you' }).waitFor();
  await page.getByText('https://agent.example.com').waitFor();
  await check();
  await page.getByRole('button', { name: 'Withdraw…' }).press('Enter');
  await page.getByRole('button', { name: 'Withdraw it now' }).press('Enter');
  await page.getByText('https://agent.example.com').waitFor({ state: 'hidden' });
  expect((await proxy.app.consents.list({ after: null, limit: 9 })).length).toBe(0);

  // The rest of the console is for operators.
  await page.goto(`${front.url}/keys`);
  await page.getByText('You have no role here').waitFor();
  await check();
  await page.getByRole('link', { name: 'Your connections to Odoo' }).press('Enter');
  await page.getByRole('heading', { name: 'Your connections to Odoo' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await page.getByRole('link', { name: 'Sign in with corp' }).waitFor();
  await page.goto(`${front.url}/keys`);
  await page.getByRole('link', { name: 'Sign in with corp' }).waitFor();
});

test.skipIf(!HAS_CHROMIUM)(
  'a person is told that a key ends soon, unless the proxy replaces it',
  async () => {
    const { page, proxy, sandbox, front, provider } = await openWithProvider('', {
      width: 360,
      more: ({ url }) => ({ 'auth.issuers': JSON.stringify([describeIssuer(url)]) }),
    });
    provider.persons.set('ada', ['staff']);
    const { instances, connections } = proxy.app;
    const day = 86_400_000;
    for (const [name, days, rotate_key] of [
      ['soon', 3, false],
      ['later', 60, false],
      ['renewed', 60, true],
      ['short', 3, true],
    ] as const) {
      await instances.add({ name, url: sandbox.url, db: sandbox.db, identity: 'person', rotate_key });
      const user = {
        login: 'demo',
        userId: 8,
        apiKey: '0'.repeat(40),
        keyExpiresAt: Date.now() + days * day,
      };
      await connections.put((await instances.find(name))!, { person: 'corp/ada', ...user });
    }
    await page.goto(`${front.url}/me`);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
    await page.getByText('Your key ends soon').waitFor();
    expect(await page.getByText('Your key ends soon').count()).toBe(1);
    expect(await page.getByText('and that the proxy replaces before').count()).toBe(2);
    expect(await page.getByText('The proxy has not replaced your key yet').count()).toBe(1);
    await expectAccessible(page);
    expect(await listLayoutFaults(page)).toEqual([]);
  },
);

function describeIssuer(issuer: string) {
  return {
    name: 'corp',
    issuer,
    audience: ['https://erp.example.com'],
    allowPrivate: true,
    rules: [{ policy: { instances: ['*'], models: { '*': ['*'] } } }],
  };
}
