/**
 * Tests the console, its sign-in links, the reference page and the OpenAPI document below a path of a reverse proxy.
 */
import { createServer, request } from 'node:http';
import { expect, test } from 'vitest';
import { makeSignInLink } from '../../server/src/cli/sign-in-link.ts';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { listenOnFreePort } from '../../server/test/listen.ts';
import { ADMIN_TOKEN, HAS_CHROMIUM, openConsole } from './open-console.ts';

const PREFIX = '/tools/erp';

/** A reverse proxy that passes on requests below the prefix, without the prefix. `others` collects all other paths. */
async function startPrefixProxy() {
  let target = '';
  const others: string[] = [];
  const server = createServer((asked, answer) => {
    const path = asked.url ?? '';
    if (!path.startsWith(`${PREFIX}/`)) {
      others.push(path);
      answer.writeHead(404).end('of another server');
      return;
    }
    const { method, headers } = asked;
    const passed = request(target + path.slice(PREFIX.length), { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    asked.pipe(passed);
  });
  const port = await listenOnFreePort(closeAfterTest(server));
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    others,
    passTo(url: string) {
      target = url;
    },
  };
}

test.skipIf(!HAS_CHROMIUM)('works behind a reverse proxy with a path, and on its own address', async () => {
  const prefix = await startPrefixProxy();
  const { page, proxy, addInstance } = await openConsole({
    isSignedIn: false,
    settings: { 'http.publicUrl': prefix.url },
  });
  prefix.passTo(proxy.url);
  await addInstance();
  // A sign-in link leads to the overview.
  await page.goto(makeSignInLink(ADMIN_TOKEN, prefix.url).url);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`${PREFIX}/`);
  const [cookie] = await page.context().cookies(`${prefix.url}/admin/v1/keys`);
  // By its path, the cookie is not sent to other servers on this host.
  expect(cookie).toMatchObject({ name: 'ep_session', path: `${PREFIX}/admin/v1` });
  // Follows links, and reloads a page in a deeper folder.
  await page.getByRole('link', { name: 'Instances' }).first().click();
  await page.getByRole('link', { name: 'prod' }).click();
  await page.getByRole('heading', { name: 'prod' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`${PREFIX}/instances/prod`);
  await page.reload();
  await page.getByRole('heading', { name: 'prod' }).waitFor();
  await page.getByRole('link', { name: 'Keys' }).first().click();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).first().fill('behind a path');
  await page.getByRole('button', { name: 'As code' }).click();
  await page.getByText(`${prefix.url}/admin/v1/keys`).first().waitFor();
  // The reference page also uses the prefix.
  await page.goto(`${prefix.url}/docs`);
  await page.locator('#execute').waitFor();
  const document = await (await fetch(`${prefix.url}/openapi.json`)).json();
  expect(document.servers).toMatchObject([{ url: prefix.url }]);
  expect(prefix.others.filter((path) => path !== '/favicon.ico')).toEqual([]);
  // An administrator on the machine itself can use the proxy's own address.
  await page.goto(`${proxy.url}/keys/new`);
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Name' }).first().waitFor();
});
