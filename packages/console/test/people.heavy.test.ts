/** The page People, and the console of a person who is limited to some of the instances. */
import { expect, test } from 'vitest';
import { addConsent } from './add-consent.ts';
import { listLayoutFaults } from './inspect-layout.ts';
import { expectAccessible, HAS_CHROMIUM } from './open-console.ts';
import { openWithProvider, type WithProvider } from './open-with-provider.ts';

const RULES = [
  { claim: 'groups', value: 'erp-admins', role: 'admin' },
  { claim: 'groups', value: 'client-a', role: 'operator', instances: ['client-a-*'] },
  { claim: 'groups', value: 'erp-sales', role: 'viewer' },
];

async function open(group: string, options: WithProvider = {}) {
  const opened = await openWithProvider('', {
    ...options,
    more: () => ({ 'operators.rules': JSON.stringify(RULES) }),
  });
  const { page, proxy, sandbox, front, provider, ask } = opened;
  const { instances, connections } = proxy.app;
  for (const name of ['client-a-prod', 'client-b-prod']) {
    await instances.add({ name, url: sandbox.url, db: sandbox.db, identity: 'person' });
    const instance = (await instances.find(name))!;
    for (const sub of ['ada', 'bob']) {
      const user = { login: `${sub}@example.com`, userId: 8, apiKey: '0'.repeat(40), keyExpiresAt: null };
      await connections.put(instance, { person: `corp/${sub}`, ...user });
    }
  }
  await ask('POST', '/keys', {
    name: 'key of B',
    policy: { instances: ['client-b-prod'], models: { 'res.partner': ['read'] } },
  });
  provider.persons.set('ada', [group]);
  const signIn = async (path: string) => {
    await page.goto(front.url + path);
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('link', { name: 'Continue as ada' }).click();
  };
  const check = async () => {
    await expectAccessible(page);
    expect(await listLayoutFaults(page)).toEqual([]);
  };
  return { ...opened, signIn, check };
}

test.skipIf(!HAS_CHROMIUM).each([360, 768, 1280])(
  'an administrator sees who is connected and who has signed in, removes and signs out with the keyboard, %i px wide',
  async (width) => {
    const { page, signIn, check, proxy } = await open('erp-admins', { width });
    await signIn('/people');
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.getByText('ada@example.com').first().waitFor();
    expect(await page.getByRole('row').count()).toBe(1 + 4);
    await check();
    await page.getByLabel('Id of a person').fill('corp/bob');
    await page.getByText('ada@example.com').first().waitFor({ state: 'hidden' });
    expect(new URL(page.url()).search).toContain('person=corp');
    const remove = page.getByRole('button', { name: 'Remove…' });
    await remove.first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await check();
    await page.getByRole('button', { name: 'Remove connection' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await expect.poll(() => page.getByRole('row').count()).toBe(1 + 1);
    expect(await proxy.app.connections.get('corp/bob', 'client-a-prod')).toBeNull();

    await page.getByRole('tab', { name: 'Roles and sessions' }).click();
    await page.getByRole('heading', { name: 'Roles and sessions' }).waitFor();
    await page.getByRole('row', { name: /ada of corp.*active.*admin.*all/ }).waitFor();
    await check();
    await addConsent(proxy, {
      person: 'corp/bob',
      name: 'Agent',
      application: 'agent',
      address: 'https://agent.example.com',
    });
    await page.getByRole('tab', { name: 'Applications' }).click();
    await page.getByText('https://agent.example.com').waitFor();
    await check();
    await page.getByRole('button', { name: 'Withdraw…' }).press('Enter');
    await page.getByRole('button', { name: 'Withdraw consent' }).press('Enter');
    await page.getByText('No person has allowed an application').waitFor();

    await page.getByRole('tab', { name: 'Roles and sessions' }).click();
    await page.getByRole('button', { name: 'End sessions…' }).press('Enter');
    await page.getByRole('button', { name: 'End sessions', exact: true }).press('Enter');
    await page.getByText('Your session has ended').waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM).each([360, 1280])(
  'a limited operator sees the own instances alone, and is told so where a link leads further, %i px wide',
  async (width) => {
    const { page, signIn, check, front } = await open('client-a', { width });
    await signIn('/people');
    await page.getByText('ada@example.com').first().waitFor();
    expect(await page.getByRole('row').count()).toBe(1 + 2);
    expect(await page.content()).not.toContain('client-b');
    expect(await page.getByRole('tab', { name: 'Roles and sessions' }).count()).toBe(0);
    await check();

    await page.getByRole('button', { name: /ada of corp/ }).press('Enter');
    await page.getByText('client-a-*').last().waitFor();
    await page.getByRole('link', { name: 'Your connections to Odoo' }).waitFor();
    await check();
    await page.keyboard.press('Escape');

    for (const path of ['/people/sign-ins', '/people/applications', '/keys/denied-subjects']) {
      await page.goto(front.url + path);
      await page.getByText('you are limited to the instances client-a-*').waitFor();
    }
    await check();
    for (const path of [
      '/',
      '/keys',
      '/instances',
      '/subscriptions',
      '/approvals',
      '/calls',
      '/playground',
    ]) {
      await page.goto(front.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect([path, await page.content()]).toEqual([path, expect.not.stringMatching(/client-b|key of B/)]);
      expect(await page.getByRole('alert').count(), path).toBe(0);
      await check();
    }
    await page.goto(`${front.url}/subscriptions/new`);
    await page.getByText('It begins with the name of the instance and a dot').waitFor();
    expect(await page.getByRole('radio', { name: 'Events of the proxy' }).count()).toBe(0);
  },
);

test.skipIf(!HAS_CHROMIUM)('a viewer sees people, and no buttons that need another role', async () => {
  const { page, signIn, check } = await open('erp-sales', { width: 768 });
  await signIn('/people/sign-ins');
  await page.getByRole('row', { name: /ada of corp.*active.*viewer/ }).waitFor();
  expect(await page.getByRole('button', { name: /End sessions|Deny/ }).count()).toBe(0);
  await check();
  await page.getByRole('tab', { name: 'Connections to Odoo' }).click();
  await page.getByText('ada@example.com').first().waitFor();
  expect(await page.getByRole('button', { name: 'Remove…' }).count()).toBe(0);
  await check();
});
