/** A person connects to Odoo on the pages that need no role, at three widths and with the keyboard alone. */
import { expect, test } from 'vitest';
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

  // The rest of the console is for operators.
  await page.goto(`${front.url}/keys`);
  await page.getByText('You have no role here').waitFor();
});

function describeIssuer(issuer: string) {
  return {
    name: 'corp',
    issuer,
    audience: ['https://erp.example.com'],
    allowPrivate: true,
    rules: [{ policy: { instances: ['*'], models: { '*': ['*'] } } }],
  };
}
