/** Persons sign in for an application, and answer its question, at three widths and with the keyboard alone. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { listenOnFreePort } from '../../server/test/listen.ts';
import { Application } from '../../server/test/sign-in/application.ts';
import { listLayoutFaults } from './inspect-layout.ts';
import { expectAccessible, HAS_CHROMIUM } from './open-console.ts';
import { openWithProvider } from './open-with-provider.ts';

const POLICY = { instances: ['prod'], models: { '*': ['read', 'search*'] } };

/** An application on the machine of the browser. Answers each address with an empty page. */
async function startApplication(): Promise<string> {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' });
    answer.end('<!doctype html><html lang="en"><title>Application</title><main>Back</main></html>');
  });
  closeAfterTest({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}/callback`;
}

test.skipIf(!HAS_CHROMIUM).each([
  [360, '', 'provider'],
  [768, '/tools/erp', 'odoo'],
  [1280, '', 'odoo'],
] as const)('a person signs in and agrees, %i px wide, below "%s", by the %s', async (width, prefix, way) => {
  const { page, proxy, sandbox, front, provider } = await openWithProvider(prefix, {
    width,
    more: ({ url }) => ({
      'auth.issuers': JSON.stringify([
        {
          name: 'corp',
          issuer: url,
          audience: ['somebody else'],
          allowPrivate: true,
          rules: [{ policy: 'own' }],
        },
      ]),
      'auth.policies': JSON.stringify({ own: POLICY }),
      'signIn.providers': 'corp',
      'signIn.odoo': 'prod',
      'signIn.odooPolicy': 'own',
    }),
  });
  provider.persons.set('ada', ['staff']);
  await proxy.app.instances.add({ name: 'prod', url: sandbox.url, db: sandbox.db, identity: 'person' });
  const folder = process.env['SCREENSHOTS'];
  const check = async (name: string) => {
    await expectAccessible(page);
    expect(await listLayoutFaults(page)).toEqual([]);
    if (folder !== undefined)
      await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
  };
  const application = new Application(front.url, await startApplication());
  await application.register({ client_name: 'An assistant with quite a long name for its width' });
  await page.goto(application.address({ resource: front.url }));
  await page.getByRole('heading', { name: 'Sign in' }).first().waitFor();
  await check('choice');

  if (way === 'provider') {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in with corp');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Continue as ada' }).click();
  } else {
    await page.getByLabel('Login').focus();
    await page.keyboard.type('demo');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0'.repeat(40));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Login').inputValue()).toBe('demo');
    await check('refused');
    await page.getByLabel('API key').fill(sandbox.users.demo.apiKey);
    await page.keyboard.press('Enter');
  }
  await page.getByRole('heading', { name: /^Allow “An assistant/ }).waitFor();
  await check('consent');
  expect(await page.content()).not.toContain(sandbox.users.demo.apiKey);
  await page.getByRole('button', { name: 'Allow' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Back').waitFor();
  const { status, json } = await application.takeCode(page.url());
  expect({ status, scope: json.scope }).toEqual({ status: 200, scope: 'mcp erp' });

  // The next time, it is there to withdraw.
  if (way === 'provider') {
    await page.goto(application.address({ resource: front.url }));
    await page.getByRole('link', { name: 'Sign in with corp' }).click();
    await page.getByRole('heading', { name: 'You have allowed before' }).waitFor();
    await check('allowed-before');
    await page.getByRole('button', { name: /^Withdraw/ }).press('Enter');
    await page.getByRole('heading', { name: 'You have allowed before' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Refuse' }).press('Enter');
    await page.getByText('Back').waitFor();
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  }

  // The page is gone, also for who goes back.
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign-in not possible' }).waitFor();
  await check('gone');
});
